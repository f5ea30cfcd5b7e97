"""Canonical algorithms: one name and one set of parameters for the same algorithm in every framework.

A framework maps the canonical parameters to its own, and declares which of them it cannot express. Each framework has
its own defaults, so that a study has to state the parameters that should be equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Canonical:
    """An algorithm that several frameworks have: its name, title, source, and parameters with their meaning."""

    name: str
    title: str
    cite: str
    parameters: dict[str, str] = field(default_factory=dict)


_FACTORS = {"factors": "how many latent factors"}
_DESCENT = {
    "epochs": "how often the training rows are gone through",
    "learning_rate": "the step of gradient descent",
    "regularisation": "the weight of squared parameters in the loss",
}
_NEIGHBOURS = {
    "k": "how many neighbours take part",
    "similarity": "how alike two users or items are",
    "center": "what is subtracted from ratings before, and added after",
    "shrinkage": "similarities are multiplied by n / (n + shrinkage), n common ratings",
    "min_overlap": "fewest common ratings for a similarity",
    "min_neighbours": "fewest neighbours for a score",
}
_WALK = {
    "alpha": "power of the transition probabilities",
    "k": "how many weights of each item remain",
}
_SMOOTHED = {"k": "how many neighbours take part", "smoothing": "weight of the collection in probabilities"}

CANONICAL: dict[str, Canonical] = {
    algorithm.name: algorithm
    for algorithm in (
        Canonical("random", "Random scores", ""),
        Canonical("popularity", "How many users have the item", ""),
        Canonical(
            "bias",
            "Mean rating plus deviations of user and item",
            "Koren (2010), ACM TKDD 4(1)",
            {
                "user_damping": "imagined ratings without bias added to those of each user",
                "item_damping": "imagined ratings without bias added to those of each item",
            },
        ),
        Canonical("user-knn", "Ratings of users like you", "Herlocker et al. (1999), SIGIR", _NEIGHBOURS),
        Canonical("item-knn", "Your ratings of items like this one", "Sarwar et al. (2001), WWW", _NEIGHBOURS),
        Canonical(
            "biased-mf", "Matrix factorisation with biases", "Koren et al. (2009), IEEE Computer", _FACTORS | _DESCENT
        ),
        Canonical("svd++", "Biased factors with implicit feedback", "Koren (2008), KDD", _FACTORS | _DESCENT),
        Canonical("nmf", "Non-negative matrix factorisation", "Lee & Seung (2000), NIPS", _FACTORS | _DESCENT),
        Canonical("slope-one", "Mean differences between items", "Lemire & Maclachlan (2005), SDM"),
        Canonical(
            "co-clustering",
            "Clusters of users and items",
            "George & Merugu (2005), ICDM",
            {
                "user_clusters": "how many clusters of users",
                "item_clusters": "how many clusters of items",
                "epochs": "how often the training rows are gone through",
            },
        ),
        Canonical(
            "implicit-als",
            "Weighted factorisation of implicit feedback",
            "Hu, Koren & Volinsky (2008), ICDM",
            _FACTORS
            | {
                "epochs": "how often both sides are solved for",
                "regularisation": "the weight of squared factors",
                "alpha": "how much more an observed pair counts than others: 1 + alpha * value",
            },
        ),
        Canonical("bpr", "Pairwise ranking with factors", "Rendle et al. (2009), UAI", _FACTORS | _DESCENT),
        Canonical("logistic-mf", "Logistic factorisation", "Johnson (2014), NIPS workshop", _FACTORS | _DESCENT),
        Canonical(
            "ease",
            "Linear item-item model without a diagonal",
            "Steck (2019), WWW",
            {"regularisation": "weight of squared weights"},
        ),
        Canonical(
            "slim",
            "Sparse linear item-item model",
            "Ning & Karypis (2011), ICDM",
            {"l1": "weight of absolute weights", "l2": "weight of squared weights"},
        ),
        Canonical("puresvd", "Truncated SVD of the filled matrix", "Cremonesi et al. (2010), RecSys", _FACTORS),
        Canonical(
            "p3alpha",
            "Random walk of three steps",
            "Cooper et al. (2014), WWW Companion",
            _WALK,
        ),
        Canonical(
            "rp3beta",
            "Random walk of three steps, against popularity",
            "Paudel et al. (2017), ACM TiiS",
            _WALK | {"beta": "power of the item's popularity that scores are divided by"},
        ),
        Canonical(
            "sar",
            "Affinities spread by co-occurrences of items",
            "Graham, Min & Wu (2019), RecSys",
            {
                "similarity": "how co-occurrences become similarities",
                "half_life": "days after which a rating has half of its weight",
                "min_cooccurrence": "fewest common users for a similarity",
            },
        ),
        *(
            Canonical(name, title, "Valcarce et al. (2016), ECIR", {"k": "how many neighbours take part"})
            for name, title in {
                "rocchio": "Mean rating of the neighbours",
                "rsv": "Mean rating of the neighbours times the item's share",
                "chi2": "Chi-square of the neighbours' ratings against all",
                "kld": "Divergence of the neighbours' ratings from all",
            }.items()
        ),
        Canonical("rm1", "Relevance model 1", "Parapar et al. (2013), IP&M", _SMOOTHED),
        Canonical("rm2", "Relevance model 2", "Parapar et al. (2013), IP&M", _SMOOTHED),
        Canonical("lm-wsr-user", "Users by language models", "Valcarce et al. (2016), ECIR", _SMOOTHED),
        Canonical("lm-wsr-item", "Items by language models", "Valcarce et al. (2016), ECIR", _SMOOTHED),
        Canonical(
            "hitting-time",
            "Steps of a random walk to the user",
            "Yin et al. (2012), PVLDB",
            {"iterations": "steps after which a walk is cut off"},
        ),
        Canonical("lda", "Latent Dirichlet allocation", "Blei et al. (2003), JMLR", _FACTORS),
        Canonical(
            "uir-item",
            "Relevance of an item given the user's items",
            "Wang et al. (2006), ECIR",
            {"smoothing": "weight of an item's share in all rows"},
        ),
        Canonical(
            "multi-vae",
            "Variational autoencoder with multinomial likelihood",
            "Liang et al. (2018), WWW",
            {
                "latent": "size of the latent layer",
                "hidden": "size of the hidden layer",
                "dropout": "share of the input left out while learning",
                "anneal": "highest weight of the divergence",
                "epochs": "how often the users are gone through",
                "batch": "how many users at a time",
                "learning_rate": "the step of gradient descent",
            },
        ),
    )
}
