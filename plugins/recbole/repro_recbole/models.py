"""RecBole's general recommenders that need users and items only, as a table: names, parameters and defaults.

Names and defaults are those of RecBole 1.2.1. Lists are written as text, such as "[128, 64]".

Not included: NCL (needs faiss) and RaCT (trained in three runs, each from a file of the one before); parameters
that name a file of a pretrained model; and T-DiffRec, which is DiffRec with its parameter ``time-aware``.
"""

from __future__ import annotations

from dataclasses import dataclass

from repro.plugin import Parameter

YES_NO = (True, False)


@dataclass(frozen=True)
class Model:
    """A class of RecBole.

    name        of the class, and of the algorithm
    parameters  under RecBole's names, with RecBole's defaults
    personal    whether scores depend on the user
    draws       whether it draws random numbers when it scores
    ratings     whether it may use ratings; all others count an interaction as 1
    one_by_one  whether RecBole itself scores users, or pairs, one after the other
    """

    name: str
    summary: str
    cite: str
    parameters: tuple[Parameter, ...]
    personal: bool = True
    draws: bool = False
    ratings: bool = False
    one_by_one: bool = False


BATCH = Parameter("train_batch_size", 2048, "how many rows, drawn ones included, or users are learnt from at a time")
DESCENT = (
    Parameter("epochs", 300, "how often the training rows, or users, are gone through; there is no early stopping"),
    BATCH,
    Parameter("learning_rate", 0.001, "the step of gradient descent"),
    Parameter("learner", "adam", "the optimiser", ("adam", "adamw", "sgd", "adagrad", "rmsprop")),
    Parameter("weight_decay", 0.0, "the optimiser's weight of squared parameters"),
)
SAMPLE_NUM = Parameter("sample_num", 1, "how many items that the user does not have are drawn for each row")
SAMPLED = (
    *DESCENT,
    SAMPLE_NUM,
    Parameter("distribution", "uniform", "how these items are drawn", ("uniform", "popularity")),
)


def _size(default: int = 64) -> Parameter:
    return Parameter("embedding_size", default, "length of the vectors of users and items")


def _reg(default: float, meaning: str = "weight of squared parameters in the loss") -> Parameter:
    return Parameter("reg_weight", default, meaning)


def _dropout(default: float, meaning: str = "share left out while learning") -> Parameter:
    return Parameter("dropout_prob", default, meaning)


def _layers(default: int) -> Parameter:
    return Parameter("n_layers", default, "number of layers")


_KNN = Parameter("knn_method", "item", "whether items or users are compared", ("item", "user"))
_HIDDEN = Parameter("mlp_hidden_size", "[600]", "sizes of the hidden layers")
_ANNEAL = (
    Parameter("anneal_cap", 0.2, "highest weight of the divergence"),
    Parameter("total_anneal_steps", 200000, "batches until the weight of the divergence would be 1"),
)
_SPLIT_TO = Parameter("split_to", 0, "in how many parts the items are scored, to need less memory; 0 is one")

BASELINES = (
    Model(
        "Pop",
        "number of batches in which the item occurs, as a training row or as a drawn item, as a share of the highest",
        "",
        (
            BATCH,
            SAMPLE_NUM,
            Parameter("distribution", "uniform", "how these items are drawn", ("uniform", "popularity", "none")),
        ),
        personal=False,
    ),
    Model("Random", "a uniform number for each user and item", "", (), personal=False, draws=True),
)

LINEAR = (
    Model(
        "ItemKNN",
        "sum of the cosines between the item and the user's items, of the k nearest of all",
        "Aiolli (2013), RecSys, doi:10.1145/2507157.2507189",
        (
            Parameter("k", 100, "how many neighbours each item or user has"),
            Parameter("shrink", 0.0, "added to the denominator of the cosine"),
            _KNN,
        ),
    ),
    Model(
        "AsymKNN",
        "asymmetric cosines with a locality exponent",
        "Aiolli (2013), RecSys, doi:10.1145/2507157.2507189",
        (
            Parameter("k", 100, "how many neighbours each item or user has"),
            Parameter("q", 1, "exponent of the similarities"),
            Parameter("beta", 1.0, "exponent of the norms that scores are divided by"),
            Parameter("alpha", 0.5, "asymmetry of the cosine; 0.5 is the usual cosine"),
            _KNN,
        ),
    ),
    Model(
        "EASE",
        "linear item-item model in closed form",
        "Steck (2019), WWW, doi:10.1145/3308558.3313710",
        (_reg(250.0, "weight of the squared weights (the paper's lambda)"),),
    ),
    Model(
        "SLIMElastic",
        "sparse linear item-item model, by the elastic net of scikit-learn with at most 100 iterations for an item",
        "Ning & Karypis (2011), ICDM, doi:10.1109/ICDM.2011.134",
        (
            Parameter("alpha", 0.2, "weight of both penalties"),
            Parameter("l1_ratio", 0.02, "share of absolute weights among the penalties"),
            Parameter("positive_only", True, "no negative weights", YES_NO),
            Parameter("hide_item", True, "an item has no weight for itself", YES_NO),
        ),
    ),
    Model(
        "ADMMSLIM",
        "sparse linear item-item model by alternating directions; noise below 0.00001 is added to each score",
        "Steck et al. (2020), WSDM, doi:10.1145/3336191.3371774",
        (
            Parameter("lambda1", 3.0, "weight of absolute weights"),
            Parameter("lambda2", 200.0, "weight of squared weights"),
            Parameter("alpha", 0.5, "exponent of an item's popularity in its penalty"),
            Parameter("rho", 4000.0, "weight of the difference between the two forms of the solution"),
            Parameter("k", 100, "number of iterations"),
            Parameter("positive_only", True, "no negative weights", YES_NO),
            Parameter("center_columns", False, "whether the mean of each item is subtracted", YES_NO),
        ),
        draws=True,
    ),
    Model(
        "NCEPLRec",
        "linear regression on a truncated SVD of noise-contrastive weights",
        "Wu et al. (2019), SIGIR, doi:10.1145/3331184.3331201",
        (
            Parameter("beta", 1.0, "how much popularity weighs"),
            Parameter("rank", 450, "how many latent factors"),
            _reg(100.0, "weight of the squared weights"),
        ),
    ),
)

FACTORS = (
    Model("BPR", "pairwise ranking with factors", "Rendle et al. (2009), UAI", (_size(), *SAMPLED)),
    Model(
        "DMF",
        "two networks over the rows and columns of the matrix, compared by cosine",
        "Xue et al. (2017), IJCAI, doi:10.24963/ijcai.2017/447",
        (
            Parameter("inter_matrix_type", "01", "ones, or ratings", ("01", "rating")),
            Parameter("user_embedding_size", 64, "size of the first layer of users"),
            Parameter("item_embedding_size", 64, "size of the first layer of items"),
            Parameter("user_hidden_size_list", "[64, 64]", "sizes of the further layers of users"),
            Parameter("item_hidden_size_list", "[64, 64]", "sizes of the further layers of items"),
            *SAMPLED,
        ),
        ratings=True,
    ),
    Model(
        "ENMF",
        "factors learnt from the whole matrix, without sampling",
        "Chen et al. (2020), ACM TOIS 38(2), doi:10.1145/3373807",
        (
            _size(),
            _dropout(0.7),
            _reg(0.0),
            Parameter("negative_weight", 0.5, "weight of the pairs without a row"),
            *DESCENT,
        ),
    ),
    Model(
        "FISM",
        "factored item similarities",
        "Kabbur, Ning & Karypis (2013), KDD, doi:10.1145/2487575.2487589",
        (
            _size(),
            _SPLIT_TO,
            Parameter("reg_weights", "[0.01, 0.01]", "weights of squared vectors and biases in the loss"),
            Parameter("alpha", 0.0, "exponent of the number of the user's items that scores are divided by"),
            *SAMPLED,
        ),
        one_by_one=True,
    ),
    Model(
        "NAIS",
        "item similarities with attention",
        "He et al. (2018), IEEE TKDE 30(12), doi:10.1109/TKDE.2018.2831682",
        (
            Parameter("algorithm", "prod", "how attention is computed", ("prod", "concat")),
            _size(),
            Parameter("weight_size", 64, "size of the hidden layer of attention"),
            _SPLIT_TO,
            Parameter("reg_weights", "[1e-07, 1e-07, 1e-05]", "weights of squared parameters in the loss"),
            Parameter("alpha", 0.0, "exponent of the number of the user's items that scores are divided by"),
            Parameter("beta", 0.5, "exponent of the denominator of the attention's softmax"),
            *SAMPLED,
        ),
        one_by_one=True,
    ),
    Model(
        "LINE",
        "embedding of the graph of users and items by first and second order proximity",
        "Tang et al. (2015), WWW, doi:10.1145/2736277.2741093",
        (
            _size(),
            Parameter("order", 2, "order of proximity", (1, 2)),
            Parameter("second_order_loss_weight", 1.0, "weight of the second order"),
            *SAMPLED,
        ),
    ),
    Model(
        "SimpleX",
        "cosine contrastive loss over the user and the user's items",
        "Mao et al. (2021), CIKM, doi:10.1145/3459637.3482297",
        (
            _size(),
            Parameter("margin", 0.5, "cosines of drawn items below it cost nothing"),
            Parameter("negative_weight", 10, "weight of drawn items in the loss"),
            Parameter("gamma", 0.5, "weight of the user's own vector against that of the user's items"),
            Parameter(
                "aggregator", "mean", "how the user's items are merged", ("mean", "user_attention", "self_attention")
            ),
            Parameter("history_len", 50, "how many of the user's items are regarded"),
            _reg(1e-05),
            _dropout(0.1),
            *SAMPLED,
        ),
    ),
)

NETWORKS = (
    Model(
        "NeuMF",
        "factors and a multilayer perceptron side by side",
        "He et al. (2017), WWW, doi:10.1145/3038912.3052569",
        (
            Parameter("mf_embedding_size", 64, "length of the vectors that are multiplied"),
            Parameter("mlp_embedding_size", 64, "length of the vectors that enter the perceptron"),
            Parameter("mlp_hidden_size", "[128, 64]", "sizes of the hidden layers"),
            _dropout(0.1),
            Parameter("mf_train", True, "whether the product takes part", YES_NO),
            Parameter("mlp_train", True, "whether the perceptron takes part", YES_NO),
            *SAMPLED,
        ),
        one_by_one=True,
    ),
    Model(
        "ConvNCF",
        "convolutions over the outer product of two vectors",
        "He et al. (2018), IJCAI, doi:10.24963/ijcai.2018/308",
        (
            _size(),
            Parameter("cnn_channels", "[1, 32, 32, 32, 32]", "channels of the convolutions"),
            Parameter("cnn_kernels", "[4, 4, 2, 2]", "sizes of their kernels"),
            Parameter("cnn_strides", "[4, 4, 2, 2]", "their strides"),
            _dropout(0.2),
            Parameter("reg_weights", "[0.1, 0.1]", "weights of squared vectors and layers in the loss"),
            *SAMPLED,
        ),
        one_by_one=True,
    ),
    Model(
        "NNCF",
        "neural collaborative filtering with neighbours of user and item",
        "Bai et al. (2017), CIKM, doi:10.1145/3132847.3133083",
        (
            Parameter("ui_embedding_size", 64, "length of the vectors of users and items"),
            Parameter("neigh_embedding_size", 32, "length of the vectors of neighbours"),
            Parameter("num_conv_kernel", 128, "number of kernels of the convolution"),
            Parameter("conv_kernel_size", 5, "their size"),
            Parameter("pool_kernel_size", 5, "size of the pooling"),
            Parameter("mlp_hidden_size", "[128, 64, 32, 16]", "sizes of the hidden layers"),
            Parameter("neigh_num", 20, "how many neighbours"),
            Parameter("dropout", 0.5, "share left out while learning"),
            Parameter("neigh_info_method", "random", "how neighbours are chosen", ("random", "knn")),
            *SAMPLED,
        ),
        one_by_one=True,
    ),
)

GRAPHS = (
    Model(
        "LightGCN",
        "vectors averaged over the graph of users and items",
        "He et al. (2020), SIGIR, doi:10.1145/3397271.3401063",
        (_size(), _layers(2), _reg(1e-05), *SAMPLED),
    ),
    Model(
        "NGCF",
        "graph convolutions over users and items",
        "Wang et al. (2019), SIGIR, doi:10.1145/3331184.3331267",
        (
            _size(),
            Parameter("hidden_size_list", "[64, 64, 64]", "sizes of the layers"),
            Parameter("node_dropout", 0.0, "share of nodes left out while learning"),
            Parameter("message_dropout", 0.1, "share of messages left out while learning"),
            _reg(1e-05),
            *SAMPLED,
        ),
    ),
    Model(
        "DGCF",
        "graph convolutions with disentangled intents",
        "Wang et al. (2020), SIGIR, doi:10.1145/3397271.3401137",
        (
            _size(),
            Parameter("n_factors", 4, "number of intents"),
            Parameter("n_iterations", 2, "iterations within a layer"),
            _layers(1),
            _reg(0.001),
            Parameter("cor_weight", 0.01, "weight of the correlation of intents in the loss"),
            *SAMPLED,
        ),
    ),
    Model(
        "GCMC",
        "graph convolutional matrix completion",
        "van den Berg, Kipf & Welling (2018), KDD Deep Learning Day, arXiv:1706.02263",
        (
            Parameter("accum", "stack", "how messages are merged", ("stack", "sum")),
            Parameter("gcn_output_dim", 500, "size of the convolution"),
            _size(),
            _dropout(0.3),
            Parameter("sparse_feature", True, "whether features are kept sparse", YES_NO),
            Parameter("class_num", 2, "number of classes of interactions"),
            Parameter("num_basis_functions", 2, "number of basis functions of the decoder"),
            *SAMPLED,
        ),
    ),
    Model(
        "SpectralCF",
        "spectral convolutions over users and items",
        "Zheng et al. (2018), RecSys, doi:10.1145/3240323.3240343",
        (_size(), _layers(4), _reg(0.001), *SAMPLED),
    ),
    Model(
        "SGL",
        "LightGCN with contrasted views of the graph",
        "Wu et al. (2021), SIGIR, doi:10.1145/3404835.3462862",
        (
            Parameter("type", "ED", "views without some nodes or edges, or by random walks", ("ED", "ND", "RW")),
            _layers(3),
            Parameter("ssl_tau", 0.5, "temperature of the contrast"),
            _reg(1e-05),
            Parameter("ssl_weight", 0.05, "weight of the contrast in the loss"),
            Parameter("drop_ratio", 0.1, "share left out of a view"),
            _size(),
            *SAMPLED,
        ),
    ),
)

AUTOENCODERS = (
    Model(
        "MultiVAE",
        "variational autoencoder with multinomial likelihood",
        "Liang et al. (2018), WWW, doi:10.1145/3178876.3186150",
        (
            _HIDDEN,
            Parameter("latent_dimension", 128, "size of means and variances together: twice that of the latent layer"),
            _dropout(0.5, "share of the input left out while learning"),
            *_ANNEAL,
            *DESCENT,
        ),
    ),
    Model(
        "MultiDAE",
        "denoising autoencoder with multinomial likelihood",
        "Liang et al. (2018), WWW, doi:10.1145/3178876.3186150",
        (
            _HIDDEN,
            Parameter("latent_dimension", 64, "size of the latent layer"),
            _dropout(0.5, "share of the input left out while learning"),
            *DESCENT,
        ),
    ),
    Model(
        "RecVAE",
        "variational autoencoder with a composite prior",
        "Shenbin et al. (2020), WSDM, doi:10.1145/3336191.3371831",
        (
            Parameter("hidden_dimension", 600, "size of the hidden layers"),
            Parameter("latent_dimension", 200, "size of the latent layer"),
            _dropout(0.5, "share of the input left out while learning"),
            Parameter("beta", 0.2, "weight of the divergence where gamma is 0"),
            Parameter("gamma", 0.005, "weight of the divergence for each item of the user"),
            Parameter("mixture_weights", "[0.15, 0.75, 0.1]", "weights of the three parts of the prior"),
            Parameter("n_enc_epochs", 3, "passes for the encoder in an epoch"),
            Parameter("n_dec_epochs", 1, "passes for the decoder in an epoch"),
            *DESCENT,
        ),
    ),
    Model(
        "MacridVAE",
        "variational autoencoder with disentangled concepts",
        "Ma et al. (2019), NeurIPS",
        (
            _size(),
            _dropout(0.5, "share of the input left out while learning"),
            Parameter("kfac", 10, "number of concepts"),
            Parameter("nogb", False, "no Gumbel softmax", YES_NO),
            Parameter("std", 0.01, "standard deviation of the prior"),
            Parameter("encoder_hidden_size", "[600]", "sizes of the hidden layers"),
            Parameter("tau", 0.1, "temperature of the softmax"),
            *_ANNEAL,
            Parameter("reg_weights", "[0.0, 0.0]", "weights of squared parameters in the loss"),
            *DESCENT,
        ),
    ),
    Model(
        "CDAE",
        "denoising autoencoder with a vector for each user",
        "Wu et al. (2016), WSDM, doi:10.1145/2835776.2835837",
        (
            Parameter("loss_type", "BCE", "cross entropy or squared error", ("BCE", "MSE")),
            Parameter("hid_activation", "relu", "activation of the hidden layer", ("sigmoid", "relu", "tanh")),
            Parameter("out_activation", "sigmoid", "activation of the output", ("sigmoid", "relu")),
            Parameter("corruption_ratio", 0.5, "share of the input left out while learning"),
            _size(),
            Parameter("reg_weight_1", 0.0, "weight of absolute parameters in the loss"),
            Parameter("reg_weight_2", 0.01, "weight of squared parameters in the loss"),
            *DESCENT,
        ),
    ),
)

_DIFFUSION = (
    Parameter("noise_max", 0.005, "highest noise"),
    Parameter("reweight", True, "whether steps weigh differently in the loss", YES_NO),
    Parameter("mean_type", "x0", "what the network predicts: the input, or the noise", ("x0", "eps")),
    Parameter("steps", 5, "steps of diffusion"),
    Parameter("history_num_per_term", 10, "losses of each step remembered to weigh it"),
    Parameter("beta_fixed", True, "whether the variance of the first step is fixed", YES_NO),
    Parameter("dims_dnn", "[300]", "sizes of the hidden layers"),
    Parameter("embedding_size", 10, "length of the vector of a step"),
    Parameter("mlp_act_func", "tanh", "activation", ("tanh", "relu", "sigmoid", "leakyrelu")),
)
_SCHEDULE = Parameter("noise_schedule", "linear", "how noise grows", ("linear", "linear-var", "cosine", "binomial"))
_NOISE_SCALE = "scale of the noise; 0 is none"
_DIFFREC = "Wang et al. (2023), SIGIR, doi:10.1145/3539618.3591663"

# Their parameters sampling_steps and sampling_noise, which draw random numbers while scoring, keep their default: none.
DIFFUSION = (
    Model(
        "DiffRec",
        "diffusion over the user's items",
        _DIFFREC,
        (
            _SCHEDULE,
            Parameter("noise_scale", 0.001, _NOISE_SCALE),
            Parameter("noise_min", 0.0005, "lowest noise"),
            *_DIFFUSION,
            *DESCENT,
        ),
    ),
    Model(
        "LDiffRec",
        "diffusion over a latent layer",
        _DIFFREC,
        (
            Parameter("reparam", True, "whether the autoencoder is variational", YES_NO),
            Parameter("in_dims", "[300]", "sizes of the layers of the encoder"),
            Parameter("out_dims", "[]", "sizes of the hidden layers of the decoder"),
            Parameter("ae_act_func", "tanh", "activation of the autoencoder", ("tanh", "relu", "sigmoid", "leakyrelu")),
            Parameter("lamda", 0.03, "first weight of the diffusion in the loss"),
            Parameter("anneal_cap", 0.005, "lowest weight of the diffusion in the loss"),
            Parameter("anneal_steps", 1000, "batches until that weight would be 0"),
            Parameter("vae_anneal_cap", 0.3, "highest weight of the divergence"),
            Parameter("vae_anneal_steps", 200, "batches until the weight of the divergence would be 1"),
            _SCHEDULE,
            Parameter("noise_scale", 0.1, _NOISE_SCALE),
            Parameter("noise_min", 0.001, "lowest noise"),
            *_DIFFUSION,
            *DESCENT,
        ),
    ),
)

MODELS = {model.name: model for model in (*BASELINES, *LINEAR, *FACTORS, *NETWORKS, *GRAPHS, *AUTOENCODERS, *DIFFUSION)}
