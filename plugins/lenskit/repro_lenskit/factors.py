"""Factor models: the product of a user's and an item's vector, plus biases where the model has them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from repro_lenskit.recommender import NumberArray, Personal

Vector = npt.NDArray[np.float32]


class Factors(Personal):
    """score(u, i) = offset(i) + bias(u) + p(u) q(i).

    The product is always computed for all items, and the requested ones are selected: BLAS may round differently for
    other shapes.
    """

    item_factors_: npt.NDArray[Any]
    offsets_: npt.NDArray[Any] | float = 0.0

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
        self.user_biases_ = self.component.bias.user_biases
        self.offsets_ = item_offsets(self.component.bias)


class BiasedSVD(LearntUsers):
    """BiasedSVDScorer: scikit-learn's truncated SVD of the residuals of the biases."""

    def _learn(self, data: Any) -> None:
        self.user_factors_ = self.component.user_components_
        self.item_factors_ = self.component.factorization_.components_.T
        self.user_biases_ = self.component.bias_.user_biases
        self.offsets_ = item_offsets(self.component.bias_)


class NonNegative(LearntUsers):
    """NMFScorer: scikit-learn's non-negative factors of the binary matrix."""

    def _learn(self, data: Any) -> None:
        self.user_factors_ = self.component.user_components
        self.item_factors_ = self.component.item_components


class FlexMF(LearntUsers):
    """FlexMFExplicitScorer and FlexMFImplicitScorer: factors and biases by torch; with convolution layers, a vector
    is the mean over the layers."""

    def _learn(self, data: Any) -> None:
        model = self.component.model
        self.user_factors_ = _array(_blended(model.u_embed, model.u_layers))
        self.item_factors_ = _array(_blended(model.i_embed, model.i_layers))
        self.user_biases_ = None if model.u_bias is None else _array(model.u_bias.weight)[:, 0]
        item_biases = 0.0 if model.i_bias is None else _array(model.i_bias.weight)[:, 0]
        self.offsets_ = item_biases + getattr(self.component, "global_bias", 0.0)


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
