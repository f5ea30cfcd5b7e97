"""The inverse of a positive definite matrix, in place and on one thread."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from repro.data.interactions import FloatArray
from repro.errors import PluginError
from repro_reference.item_products import mirror


def inverse_of(square: FloatArray, added: FloatArray) -> FloatArray:
    """The inverse of a symmetric matrix with something added to its diagonal; ``square`` is overwritten.

    By Cholesky factors, which take half of the operations of a general inverse and no second matrix.
    """
    square[np.diag_indices_from(square)] += added
    with threadpool_limits(1):  # more threads would add in another order
        # In the order of Fortran, the lower triangle of the transpose is the upper one of the matrix.
        factor, failed = lapack.dpotrf(square.T, lower=1, overwrite_a=1, clean=0)
        if not failed:
            inverse, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if failed:
        raise PluginError(
            "the matrix of this penalty is not positive definite in double precision; give a larger regularisation"
        )
    result: FloatArray = inverse.T
    mirror(result)
    return result
