# scikit-learn computes on arrays of usmx through the Array API standard: the estimators and metrics
# that it lists for that give what they give with NumPy, in device memory.
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from sklearn import (
    config_context,
    decomposition,
    discriminant_analysis,
    kernel_approximation,
    linear_model,
    metrics,
    mixture,
    model_selection,
    naive_bayes,
    preprocessing,
)

import usmx

choose = np.random.default_rng(0)
POINTS = choose.normal(size=(200, 5))
LABELS = (POINTS[:, 0] + 0.3 * POINTS[:, 1] > 0).astype("int64")
TARGETS = POINTS @ np.arange(1.0, 6) + 0.01 * choose.normal(size=200)

ESTIMATORS = {
    **{
        name: lambda x, y, t, name=name: getattr(preprocessing, name)().fit_transform(x)
        for name in (
            "Binarizer",
            "MaxAbsScaler",
            "MinMaxScaler",
            "Normalizer",
            "PolynomialFeatures",
            "StandardScaler",
        )
    },
    "KernelCenterer": lambda x, y, t: preprocessing.KernelCenterer().fit_transform(x[:5, :5]),
    "LabelEncoder": lambda x, y, t: preprocessing.LabelEncoder().fit_transform(y),
    "LabelBinarizer": lambda x, y, t: preprocessing.LabelBinarizer().fit_transform(y),
    "Ridge": lambda x, y, t: linear_model.Ridge(solver="svd").fit(x, t).predict(x),
    "RidgeCV": lambda x, y, t: linear_model.RidgeCV().fit(x, t).predict(x),
    "RidgeClassifier": lambda x, y, t: (
        linear_model.RidgeClassifier(solver="svd").fit(x, y).predict(x)
    ),
    "LogisticRegression": lambda x, y, t: (
        linear_model.LogisticRegression(tol=1e-8).fit(x, y).decision_function(x)
    ),
    "PCA": lambda x, y, t: abs(decomposition.PCA(3, svd_solver="full").fit_transform(x)),
    "PCA, covariance": lambda x, y, t: abs(
        decomposition.PCA(3, svd_solver="covariance_eigh").fit_transform(x)
    ),
    "LinearDiscriminantAnalysis": lambda x, y, t: (
        discriminant_analysis.LinearDiscriminantAnalysis().fit(x, y).predict(x)
    ),
    "GaussianNB": lambda x, y, t: naive_bayes.GaussianNB().fit(x, y).predict(x),
    "GaussianMixture": lambda x, y, t: (
        mixture.GaussianMixture(
            2, random_state=0, init_params="random", means_init=x[:2], max_iter=3
        )
        .fit(x)
        .predict(x)
    ),
    "Nystroem": lambda x, y, t: kernel_approximation.Nystroem(
        n_components=5, random_state=0
    ).fit_transform(x),
    "train_test_split": lambda x, y, t: model_selection.train_test_split(x, random_state=0)[0],
    "cross_val_predict": lambda x, y, t: model_selection.cross_val_predict(
        discriminant_analysis.LinearDiscriminantAnalysis(), x, y
    ),
}
OF_LABELS = (
    "accuracy_score",
    "balanced_accuracy_score",
    "cohen_kappa_score",
    "confusion_matrix",
    "f1_score",
    "hamming_loss",
    "jaccard_score",
    "precision_score",
    "recall_score",
    "zero_one_loss",
)
OF_PROBABILITIES = ("brier_score_loss", "log_loss", "roc_auc_score")
OF_TARGETS = (
    "d2_pinball_score",
    "d2_tweedie_score",
    "explained_variance_score",
    "max_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_gamma_deviance",
    "mean_pinball_loss",
    "mean_poisson_deviance",
    "mean_squared_error",
    "mean_squared_log_error",
    "mean_tweedie_deviance",
    "median_absolute_error",
    "r2_score",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
)
OF_PAIRS = (
    "additive_chi2_kernel",
    "chi2_kernel",
    "cosine_distances",
    "cosine_similarity",
    "euclidean_distances",
    "laplacian_kernel",
    "linear_kernel",
    "manhattan_distances",
    "paired_cosine_distances",
    "paired_euclidean_distances",
    "polynomial_kernel",
    "rbf_kernel",
    "sigmoid_kernel",
)


def as_numpy(value):
    return value.to_numpy() if isinstance(value, usmx.ndarray) else np.asarray(value)


def compare(function):
    expected = function(np, POINTS, LABELS, TARGETS)
    ours = [usmx.asarray(v, usm_type="device") for v in (POINTS, LABELS, TARGETS)]
    with config_context(array_api_dispatch=True):
        result = function(usmx, *ours)
    np.testing.assert_allclose(as_numpy(result), as_numpy(expected), rtol=1e-6, atol=1e-8)
    return result


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_compute_on_the_device(name):
    result = compare(lambda xp, x, y, t: ESTIMATORS[name](x, y, t))
    assert isinstance(result, usmx.ndarray)
    assert result.usm_type == "device"


@pytest.mark.parametrize("name", OF_LABELS)
def test_metrics_of_labels(name):
    compare(lambda xp, x, y, t: getattr(metrics, name)(y, xp.astype(x[:, 0] > 0, xp.int64)))


@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_metrics_of_probabilities(name):
    compare(lambda xp, x, y, t: getattr(metrics, name)(y, 1 / (1 + xp.exp(-x[:, 0]))))


@pytest.mark.parametrize("name", OF_TARGETS)
def test_metrics_of_targets(name):
    def measure(xp, x, y, t):
        true = xp.abs(t) + 1
        return getattr(metrics, name)(true, true + 0.1 * xp.abs(x[:, 0]))

    compare(measure)


@pytest.mark.parametrize("name", OF_PAIRS)
def test_kernels_and_distances_of_pairs(name):
    def measure(xp, x, y, t):
        near = xp.abs(x)
        return getattr(metrics.pairwise, name)(near[:20], near[20:40])

    assert isinstance(compare(measure), usmx.ndarray)
