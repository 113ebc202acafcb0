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
told = [k_medoids(rows, count, seed=seed, metric=metric).medoids.tolist()
        for count in (5, 40, 100) for seed in range(3) for metric in ("euclidean", "cosine")]
told += [fp.select(graph, 60, strategy=name, random_state=1).nodes.tolist()
         for name in ("graphpart", "featprop-cosine")]
kernels = sorted(each.get("architecture", "") for each in threadpool_info() if each["internal_api"] == "openblas")
product = hashlib.sha256((rows @ rows.T).tobytes()).hexdigest()
print(kernels, product, told, sep="|")
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other kernels to choose from")
def test_medoids_do_not_depend_on_the_rounding_of_products() -> None:
    answers = {}
    for kernel in ("Haswell", "Sandybridge", "Prescott"):
        environment = {**os.environ, "OPENBLAS_CORETYPE": kernel}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            answers[kernel] = done.stdout.strip().split("|")
    if len({product for _, product, _ in answers.values()}) < 2:
        pytest.skip("the BLAS of this machine has one way to multiply only")
    assert len({told for *_, told in answers.values()}) == 1
