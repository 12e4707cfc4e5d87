"""The ops of the table, in their groups, and what there is of each."""
import assay
from any_op import ops_held_out, ops_rule
from any_op.right import RIGHT
from any_op.wrong import WRONG

RULE, HELD_OUT = "rule", "held out"


def _registered_by(module):
    return [one for one in assay._ops if one.function.__module__ == module]


def ops():
    """Returns (group, definition) of all ops."""
    return ([(RULE, one) for one in _registered_by(ops_rule.__name__)]
            + [(HELD_OUT, one) for one in _registered_by(ops_held_out.__name__)])


def describe(definition):
    return f"{len(RIGHT[definition.name])} right, {len(WRONG.get(definition.name, {}))} wrong kernels of its own"
