"""The names in the set: algorithms, and every metric, at three cut-offs where it has one, with a choice of variants."""

from __future__ import annotations

ALGORITHMS = ["random", "popularity", "item-knn", "bias"]
CUTOFFS = (1, 5, 10)


def at(*names: str) -> list[str]:
    return [f"{name}@{cutoff}" for name in names for cutoff in CUTOFFS]


# Of each list.
BASIC = [
    *at("ap", "arhr", "f1", "hit", "ndcg", "precision", "recall", "rr", "rbp"),
    "ap", "arhr", "f1", "ndcg", "precision", "recall", "rr", "rbp",
]  # fmt: skip
VARIANTS = [
    "ap[denominator=min-relevant]@5", "ap[denominator=min-list]@10", "ap[denominator=k]@5", "ap[denominator=hits]@5",
    "f1[precision=list]@10", "f1[precision=min-relevant,recall=min-relevant]@5",
    "ndcg[gain=linear]@10", "ndcg[gain=exp2]@10", "ndcg[gain=exp2-threshold]@5", "ndcg[discount=log-base,base=3]@10",
    "ndcg[discount=none]@5", "ndcg[ideal=whole]@5", "ndcg[ideal=k]@5", "ndcg[ideal=listed]@5",
    "precision[denominator=list]@10", "precision[denominator=min-relevant]@10", "recall[denominator=min-relevant]@1",
    "rbp[p=0.5,gain=linear]@10", "rbp[ideal=min]@10", "rbp[ideal=list]@10",
]  # fmt: skip
OTHERS = [
    *at("arc", "auc", "bpref", "fallout", "half-life", "infap", "specificity"),
    *at("epc", "intra-list-diversity", "novelty", "serendipity", "unexpectedness"),
    "arc", "auc", "bpref", "half-life", "infap", "kendall", "mpr", "ndpm", "spearman",
    "auc[ties=none]", "auc[ties=order,unlisted=spread]", "auc[negatives=judged]", "auc[negatives=catalogue]@10",
    "auc[weight=positives]", "bpref[denominator=relevant]", "epc[discount=log2,relevance=relevant]@10",
    "epc[denominator=k]@10", "f1[average=means]@10", "fallout[negatives=judged]@10", "fallout[negatives=catalogue]@10",
    "half-life[alpha=3,d=2]@10", "half-life[utility=binary,join=users,scale=share]", "infap[unjudged=not-relevant]",
    "intra-list-diversity[aggregate=min]@5", "intra-list-diversity[distance=jaccard]@5", "kendall[ties=order]",
    "mpr[percentile=share,weight=rating]", "mpr[join=pairs,unlisted=half-way]", "mpr[percentile=catalogue]",
    "ndpm[ties=order]", "novelty[unseen=left-out,denominator=k]@10",
    "serendipity[profile=nearest]@5", "serendipity[distance=jaccard,denominator=list]@5", "spearman[ties=order]",
    "unexpectedness[profile=nearest,distance=jaccard]@5",
]  # fmt: skip
TIMED = [*at("time-novelty")]
WITHOUT_EMPTY_LISTS = [*at("practical-accuracy"), "practical-accuracy[of=precision]@5"]  # average.no_list = "skip"
WITH_FEATURES = [
    "intra-list-diversity[over=features]@5", "intra-list-diversity[over=features,distance=jaccard]@10",
    "serendipity[over=features]@5", "unexpectedness[over=features,profile=nearest]@5",
]  # fmt: skip
WITH_PREVIOUS = [*at("temporal-diversity", "temporal-novelty"), "temporal-diversity[denominator=list]@10"]
# Of all lists together.
COLLECTION = [
    *at("catalogue-coverage", "entropy", "gini", "inter-list-diversity", "user-coverage"), "croc", "groc", "pr-auc",
    "croc[normalised=perfect]", "croc[rates=means]", "entropy[base=e]@5", "entropy[base=catalogue]@10",
    "entropy[base=recommended]@10", "gini[over=recommended]@10", "gini[divisor=n]@10", "pr-auc[join=lengths]",
    "pr-auc[join=users,interpolation=trapezoid]", "pr-auc[interpolation=trapezoid]", "user-coverage[counts=listed]@10",
]  # fmt: skip
PREDICTION = [
    "fcp", "mae", "mse", "nmae", "nrmse", "prediction-coverage", "rmse", "fcp[join=users]", "fcp[join=mean-counts]",
    "fcp[ties=half]", "fcp[ties=left-out]", "mae[average=users]", "mse[average=items]", "rmse[average=users]",
    "rmse[average=items]", "nmae[by=uniform,step=1]", "nrmse[by=continuous]",
]  # fmt: skip

ALL = [*BASIC, *VARIANTS, *OTHERS, *TIMED, *COLLECTION, *PREDICTION]
# Metrics that are known for every order of tied items, whatever the averages.
PLAIN = [*BASIC, *VARIANTS[:8], *PREDICTION]

# A few of every kind, where it is not the metrics that matter.
FEW = [
    "ndcg@10", "precision@5", "hit@1", "ap", "rr", "auc", "novelty@10", "catalogue-coverage@10", "user-coverage@5",
    "rmse",
]  # fmt: skip

# Decisions of the core, by family.
FAMILIES = {
    "data": "duplicates order min_rating max_rating from_time to_time sample_users sample_items user_core item_core "
    "core_rounds scale scale_min scale_max item_features",
    "relevance": "rule threshold inclusive grades",
    "split": "strategy order test_ratio holdout holdout_ratio holdout_n n folds repeats rounding short_users time "
    "equal_times test_users clock train_floor validation_ratio validation_n validation_share validation_of "
    "validation_order train_file test_file validation_file head unseen_users unseen_items",
    "candidates": "base file exclude_train exclude_validation relevant negatives sample_size sample_weight sample_per "
    "replacement rated_negatives strata strata_count strata_by",
    "missing": "rank constant fallback zero infinite",
    "ties": "break id_order precision decimals",
    "average": "folds over no_relevant no_list neither no_negatives nobody",
    "predict": "missing constant fallback clip round average",
}
DECISIONS = {f"{family}.{name}" for family, decisions in FAMILIES.items() for name in decisions.split()}

METRICS = sorted({name.split("[")[0].split("@")[0] for name in [*ALL, *WITHOUT_EMPTY_LISTS, *WITH_PREVIOUS]})
LABELS = {*ALGORITHMS, *DECISIONS, *METRICS, *ALL, *WITHOUT_EMPTY_LISTS, *WITH_FEATURES, *WITH_PREVIOUS}
