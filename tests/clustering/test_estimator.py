"""All estimator checks of scikit-learn, and what the estimator adds to `k_medoids`."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import estimator_checks_generator

from featprop.clustering import KMedoids, Points

pytestmark = pytest.mark.filterwarnings("ignore:Skipping check", "ignore:Can't check dok sparse matrix")


@pytest.mark.parametrize(("estimator", "check"), list(estimator_checks_generator(KMedoids(n_clusters=3), mark="skip")))
def test_scikit_learn_checks(estimator: KMedoids, check) -> None:  # type: ignore[no-untyped-def]
    check(estimator)


@pytest.mark.parametrize("sparse", [False, True])
def test_fit_predict_transform(sparse: bool) -> None:
    rows = np.hstack([[[0.0, 1], [1, 1], [2, 1], [20, 1], [21, 1], [22, 1]], np.zeros((6, 60))])
    given = sp.csr_array(rows) if sparse else rows
    assert sp.issparse(Points(given).rows) == sparse
    model = KMedoids(n_clusters=2, random_state=0).fit(given)
    assert sorted(model.medoid_indices_.tolist()) == [1, 4]
    assert model.inertia_ == pytest.approx(4.0)
    np.testing.assert_array_equal(model.predict(given), model.labels_)
    np.testing.assert_array_equal(model.transform(given).argmin(axis=1), model.labels_)
    assert sp.issparse(model.cluster_centers_) == sparse
    assert model.predict(np.hstack([[[19.0, 1]], np.zeros((1, 60))])).tolist() == [model.labels_[3]]


def test_sample_weight() -> None:
    rows = np.array([[0.0], [1.0], [2.0]])
    assert KMedoids(n_clusters=1).fit(rows, sample_weight=[10, 1, 1]).medoid_indices_.tolist() == [0]
