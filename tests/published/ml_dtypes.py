"""Stands in for the package of this name: NumPy gets bf16 and 8-bit floats as their bits."""
import numpy

bfloat16 = numpy.uint16
float8_e4m3fn = numpy.uint8
float8_e5m2 = numpy.uint8
