"""Ties are broken alike on every processor: the medoids are the same with other OpenBLAS kernels."""

import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import hashlib
import numpy as np
import featprop as fp
from featprop.clustering import k_medoids
from threadpoolctl import threadpool_info

generator = np.random.default_rng(0)
rows = generator.random((120, 400)).astype(np.float32)
rows = np.concatenate([rows, rows[:60], rows[:60] + np.float32(3e-8), rows[:30]])
graph = fp.Graph.from_scipy(np.zeros((len(rows), len(rows))), rows)
medoids = [k_medoids(rows, count, random_state=seed, metric=metric).medoids.tolist()
        for count in (5, 40) for seed in range(2) for metric in ("euclidean", "cosine")]
medoids += [fp.select(graph, 40, strategy=name, random_state=1).nodes.tolist()
         for name in ("graphpart", "featprop-cosine")]
kernels = sorted(each.get("architecture", "") for each in threadpool_info() if each["internal_api"] == "openblas")
product = hashlib.sha256((rows @ rows.T).tobytes()).hexdigest()
print(kernels, product, medoids, sep="|")
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other kernels to choose from")
def test_medoids_do_not_depend_on_the_rounding_of_products() -> None:
    answers = {}
    for kernel in (None, "Prescott"):
        environment = {**os.environ, "OPENBLAS_CORETYPE": kernel} if kernel else dict(os.environ)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=kernel is None
        )
        if done.returncode == 0:
            answers[kernel] = done.stdout.strip().split("|")
    if len({product for _, product, _ in answers.values()}) < 2:
        pytest.skip("this machine has only one BLAS kernel")
    assert len({medoids for *_, medoids in answers.values()}) == 1
