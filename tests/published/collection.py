"""All bugs: importing a module registers its own."""
# pylint: disable=unused-import
import argmaxes
import casts
import elementwise
import fills
import functions
import gelus
import imagined
import imagined_broadcast
import imagined_elements
import imagined_orders
import imagined_pieces
import imagined_rows
import imagined_views
import integers
import layernorms
import layouts
import norms
import products
import quantized
import reductions
import scans
import softmaxes
import sorts
import sums
import tails

from registry import KINDS, bugs
