"""The declaration of the framework ``reference``."""

from __future__ import annotations

from importlib.metadata import version

from repro.plugin import Framework, Splitter, impl


@impl
def repro_framework() -> Framework:
    # The modules import SciPy and Numba, and whoever only evaluates lists needs no algorithms.
    from repro_reference import (
        bias,
        biased_mf,
        ease,
        expected_utility,
        explicit_als,
        feedback,
        hitting_time,
        implicit_als,
        item_conditional,
        item_mean,
        knn,
        language_models,
        lda,
        nmf,
        paths,
        plsa,
        popularity,
        puresvd,
        random,
        relevance_models,
        sar,
        slim,
        slope_one,
        uir_item,
    )

    return Framework(
        name="reference",
        version=version("recsys-repro-reference"),
        summary="small, readable algorithms written after the papers that introduced them",
        algorithms=(
            random.declaration,
            popularity.declaration,
            item_mean.declaration,
            bias.declaration,
            *knn.declarations,
            puresvd.declaration,
            ease.declaration,
            plsa.declaration,
            item_conditional.declaration,
            expected_utility.declaration,
            *paths.declarations,
            sar.declaration,
            slim.declaration,
            slope_one.declaration,
            *feedback.declarations,
            *relevance_models.declarations,
            *language_models.declarations,
            hitting_time.declaration,
            lda.declaration,
            uir_item.declaration,
            implicit_als.declaration,
            explicit_als.declaration,
            biased_mf.declaration,
            nmf.declaration,
        ),
        packages={name: version(name) for name in ("numba", "numpy", "scipy")},
    )


@impl
def repro_splitters() -> tuple[Splitter, ...]:
    from repro_reference import elliot_splitters, recbole_splitters, splitters

    return (*splitters.SPLITTERS, *elliot_splitters.SPLITTERS, *recbole_splitters.SPLITTERS)
