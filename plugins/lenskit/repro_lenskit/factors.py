"""Factor models: the product of a user's and an item's vector, plus biases where the model has them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from repro.data.interactions import FloatArray
from repro.plugin import by_code
from repro_lenskit.recommender import NumberArray, Personal

Vector = npt.NDArray[np.float32]


class Factors(Personal):
    """score(u, i) = offset(i) + bias(u) + p(u) q(i).

    The product is always computed for all items, and the requested ones are selected: BLAS may round differently for
    other shapes.
    """

    item_factors_: npt.NDArray[Any]
    offsets_: npt.NDArray[Any] | float = 0.0

    def state(self) -> dict[str, FloatArray]:
        """The factors and biases that were learnt; LensKit keeps no factors of users without ``user_embeddings``."""
        learnt = {name: values for name, values in self._learnt().items() if values is not None}
        if learnt.keys().isdisjoint({"user_factors"}):
            return {}
        numbers = {"user": self.users_, "item": self.items_}
        return {
            name: by_code(values, numbers[name.partition("_")[0]])
            if np.ndim(values)
            else np.asarray(values, dtype=np.float64)
            for name, values in learnt.items()
        }

    @abstractmethod
    def _learnt(self) -> dict[str, Any]:
        """The arrays of the state by LensKit's numbers; None for what there is not."""

    @abstractmethod
    def _user(self, user: int) -> tuple[npt.NDArray[Any], float]:
        """The vector and the bias of a known user."""

    def _row(self, user: int, items: NumberArray) -> Vector:
        vector, bias = self._user(user)
        values = self.item_factors_ @ vector + (self.offsets_ + bias)
        return values.astype(np.float32)[items]


class LearntUsers(Factors):
    """A factor model whose users have the vectors and biases of the end of training."""

    user_factors_: npt.NDArray[Any]
    user_biases_: Vector | None = None
    item_biases_: Vector | None = None
    mean_: float | None = None

    def _learnt(self) -> dict[str, Any]:
        factors = {"user_factors": self.user_factors_, "item_factors": self.item_factors_}
        return factors | {"user_bias": self.user_biases_, "item_bias": self.item_biases_, "mean": self.mean_}

    def _use(self, model: Any) -> None:
        """Read the biases and the mean off LensKit's bias model."""
        self.user_biases_, self.item_biases_ = model.user_biases, model.item_biases
        self.mean_, self.offsets_ = model.global_bias, item_offsets(model)

    def _user(self, user: int) -> tuple[npt.NDArray[Any], float]:
        return self.user_factors_[user], 0.0 if self.user_biases_ is None else self.user_biases_[user]


class AlternatingLeastSquares(Factors):
    """BiasedMFScorer and ImplicitMFScorer.

    Training ends with the items, so LensKit computes the user's vector again in each query, unless
    ``user_embeddings`` is "prefer".
    """

    def _learn(self, data: Any) -> None:
        self.histories_ = data.interactions().matrix()
        self.item_factors_ = self.component.item_embeddings
        self.model_ = getattr(self.component, "bias", None)
        self.offsets_ = 0.0 if self.model_ is None else item_offsets(self.model_)

    def _learnt(self) -> dict[str, Any]:
        """The factors at the end of training; those of users are not the ones that queries get."""
        factors = {"user_factors": self.component.user_embeddings, "item_factors": self.item_factors_}
        model = self.model_
        if model is None:
            return factors
        return factors | {
            "user_bias": model.user_biases,
            "item_bias": model.item_biases,
            "mean": model.global_bias,
        }

    def _user(self, user: int) -> tuple[Vector, float]:
        if self.component.config.user_embeddings == "prefer":
            return self.component.user_embeddings[user], 0.0 if self.model_ is None else self.model_.user_biases[user]
        vector, bias = self.component.new_user_embedding(user, self.histories_.row_items(number=user))
        return vector, 0.0 if bias is None else bias


class FunkSVD(LearntUsers):
    """FunkSVDScorer: one factor after the other, by gradient descent on the residuals of the biases."""

    def _learn(self, data: Any) -> None:
        self.user_factors_ = self.component.user_embeddings
        self.item_factors_ = self.component.item_embeddings
        self._use(self.component.bias)


class BiasedSVD(LearntUsers):
    """BiasedSVDScorer: scikit-learn's truncated SVD of the residuals of the biases."""

    def _learn(self, data: Any) -> None:
        self.user_factors_ = self.component.user_components_
        self.item_factors_ = self.component.factorization_.components_.T
        self._use(self.component.bias_)


class NonNegative(LearntUsers):
    """NMFScorer: scikit-learn's non-negative factors of the binary matrix."""

    def _learn(self, data: Any) -> None:
        self.user_factors_ = self.component.user_components
        self.item_factors_ = self.component.item_components


class FlexMF(LearntUsers):
    """FlexMFExplicitScorer and FlexMFImplicitScorer: factors and biases by torch; with convolution layers, a vector
    is the mean over the layers.

    LensKit's model has the class attributes ``u_bias = None`` and ``i_bias = None``, which hide the modules of the same
    names: its scores have no biases, whatever the configuration says.
    """

    def _learn(self, data: Any) -> None:
        model = self.component.model
        self.user_factors_ = _array(_blended(model.u_embed, model.u_layers))
        self.item_factors_ = _array(_blended(model.i_embed, model.i_layers))
        self.user_biases_ = None if model.u_bias is None else _array(model.u_bias.weight)[:, 0]
        self.item_biases_ = None if model.i_bias is None else _array(model.i_bias.weight)[:, 0]
        self.mean_ = getattr(self.component, "global_bias", None)
        item_biases = 0.0 if self.item_biases_ is None else self.item_biases_
        self.offsets_ = item_biases + (self.mean_ or 0.0)


def _blended(embedding: Any, layers: Any) -> Any:
    return embedding.weight if layers is None else layers.sum(0) * (1.0 / len(layers))


def _array(tensor: Any) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = tensor.detach().cpu().numpy()
    return array


def item_offsets(model: Any) -> Vector:
    """The overall mean plus the bias of each item, of LensKit's bias model."""
    offsets = np.full(len(model.item_biases), model.global_bias, dtype=np.float32)
    offsets += model.item_biases
    return offsets
