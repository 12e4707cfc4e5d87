"""pydata/bottleneck#462 (also #193): sums and means of long f32 arrays lose their digits.

The report is of Bottleneck 1.4.1: the mean of 50 million numbers of [0, 1) is 0.34. f32 is added one by one in f32.
"""
import bottleneck
import numpy

import assay

assay.provider(f"Bottleneck {bottleneck.__version__}")


def with_nan(reduce):
    """NaN if there is one: these functions leave it out on purpose, which is not what the report is about."""
    def call(x, *, out):
        out[0] = numpy.nan if numpy.isnan(x).any() else reduce(x)
    return call


assay.kernel("sum", dtypes=["f32"])(with_nan(bottleneck.nansum))
assay.kernel("mean", dtypes=["f32"])(with_nan(bottleneck.nanmean))
