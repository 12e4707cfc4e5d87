"""Runs references at small sizes when they are loaded: what they compute, and whether they can be references."""
from dataclasses import dataclass
from typing import Tuple

import numpy

from assay import _shapes
from assay._band import agree, is_discrete, tracer_of
from assay._failure import text_of
from assay._noise import Noise
from assay._op import ODD_SIZES, is_number
from assay._source import Refusal

# Sizes that tell names apart, as no two of them are equal. Each name has another one in the second probe.
_PRIMES = (11, 13, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73)
INTEGER_DTYPES = {"int64": "i64", "int32": "i32", "int8": "i8", "uint8": "u8", "bool": "u8"}
_NUMPY_DTYPES = {"i64": numpy.int64, "i32": numpy.int32, "i8": numpy.int8, "u8": numpy.uint8}


@dataclass(frozen=True)
class Output:
    """An output, as it was found. The dtype "" is the case's."""
    dtype: str
    extents: Tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """What the probes show."""
    outputs: Tuple[Output, ...]
    terms: str
    is_ring: bool
    rows: str
    refusal: str = ""  # why nothing can judge the op


def examine(definition, source):
    """Returns the Facts. Raises Refusal with one line, and the remedy."""
    return _Probe(definition, source).facts()


class _Probe:
    def __init__(self, definition, source):
        self._definition, self._source = definition, source
        self._draw = self._tracer()

    def facts(self):
        places = self._places()
        first, noise = self._run(places[0])
        self._check_numbers(first, places[0])
        self._check_same(first, self._run(places[0])[0], places[0])
        second, other = self._run(places[1])
        if len(first) != len(second):
            raise self._refusal(f"returns {len(first)} tensors at {_text(places[0])} and {len(second)} at "
                                f"{_text(places[1])}: return as many always")
        outputs = tuple(Output(_dtype_of(output), extents)
                        for output, extents in zip(first, self._extents(first, second, places)))
        if opaque := sorted(noise.opaque | other.opaque):
            raise self._refusal(f"takes steps whose errors are not known: {', '.join(opaque)}; write them by others")
        self._check_odd_sizes(outputs, places[0])
        terms = self._definition.terms or _terms(noise.terms, other.terms, places)
        rows = self._rows(outputs, first, places[0])
        return Facts(outputs, terms, noise.is_ring and other.is_ring, rows)

    def _tracer(self):
        try:
            return tracer_of(self._definition.framework)
        except ImportError as error:
            raise self._refusal(f"needs the module '{error.name}': install it for this Python, or choose another by "
                                "--python") from None

    def _refusal(self, why):
        return Refusal(f"op '{self._definition.name}': the reference {why}")

    def _places(self):
        """Returns two dicts of sizes at which all extents have values."""
        definition = self._definition
        limited = {name for extents in self._all_extents() for extent in extents if _shapes.has_limits(extent)
                   for name in _shapes.names_of(extent)}
        places = []
        for which in (0, 1):
            place = {}
            for index, (name, wanted) in enumerate(definition.sizes.items()):
                if name in definition.fixed or name in limited:
                    place[name] = wanted[-which] if len(wanted) > 1 else wanted[0]
                else:
                    place[name] = _PRIMES[(2 * index + which) % len(_PRIMES)]
            places.append(place)
        return places

    def _all_extents(self):
        return [*(tensor.extents for tensor in self._definition.inputs), *(self._definition.out or ())]

    def _inputs(self, place, seed=0):
        random = numpy.random.default_rng(seed)
        try:
            return [_numbers(tensor, place, random) for tensor in self._definition.inputs]
        except _shapes.NotApplicable as why:
            raise self._refusal(f"has no shapes at {_text(place)}: {why}; choose other sizes") from None

    def _run(self, place, inputs=None):
        noise = Noise(quiet=True)
        inputs = self._inputs(place) if inputs is None else inputs
        try:
            with numpy.errstate(all="ignore"):
                outputs = self._draw(self._definition.function, inputs, noise)
        except ModuleNotFoundError as error:
            raise self._refusal(f"needs the module '{error.name}': install it for this Python, or choose another by "
                                "--python") from None
        except Exception as error:  # pylint: disable=broad-except
            raise self._refusal(self._failure(error, place)) from None
        for output in outputs:
            if output.dtype.kind != "f" and output.dtype.name not in INTEGER_DTYPES:
                raise self._refusal(f"returns {output.dtype.name}: return floating-point numbers or integers, of "
                                    "complex numbers the real and the imaginary part")
        return outputs, noise

    def _failure(self, error, place):
        said = text_of(error, self._source)
        if "read-only" in said:
            return f"changes an input, {said}: let it begin with a copy"
        return f"fails at {_text(place)}: {said}; list names in fixed= that take the wanted sizes alone, or give " \
               "inputs a range by assay.Input"

    def _check_numbers(self, outputs, place):
        if not outputs:
            raise self._refusal("returns nothing: return one tensor, or a tuple of them")
        for output in outputs:
            if output.size and not is_discrete(output) and not numpy.isfinite(output).any():
                raise self._refusal(f"gives no finite number at {_text(place)}: it overflows in f64 or divides by 0; "
                                    "give its inputs a range by assay.Input(SHAPE, range=(LOW, HIGH))")

    def _check_same(self, outputs, others, place):
        if len(outputs) != len(others) or not all(agree(one, two) for one, two in zip(outputs, others)):
            raise self._refusal(f"is not deterministic: two runs on the same inputs at {_text(place)} differ; let it "
                                "take random numbers as an input")

    def _extents(self, first, second, places):
        """Returns the extents of each output: those that the user gave, or those that explain the shapes."""
        given = self._definition.out
        if given is not None:
            for outputs, place in zip((first, second), places):
                self._check_shapes(outputs, given, place)
            return given
        return tuple(self._explained(index, one.shape, two.shape, places)
                     for index, (one, two) in enumerate(zip(first, second)))

    def _check_shapes(self, outputs, extents, place, more=""):
        try:
            wanted = [_shapes.shape_of(one, place) for one in extents]
        except _shapes.NotApplicable as why:
            raise self._refusal(f"has no shapes at {_text(place)}: {why}; choose other sizes") from None
        found = [output.shape for output in outputs]
        if len(found) != len(wanted):
            raise self._refusal(f"returns {len(found)} tensors where out= has {len(wanted)} shapes: give one for each")
        for index, (one, two) in enumerate(zip(found, wanted)):
            if one != two:
                raise self._refusal(f"returns the shape {_shape(one)} as output {index} at {_text(place)}, where "
                                    f"[{','.join(extents[index])}] is {_shape(two)}: {more or 'correct out='}")

    def _explained(self, index, one, two, places):
        remedy = "give its shape by out="
        if len(one) != len(two):
            raise self._refusal(f"returns {len(one)} and {len(two)} dimensions as output {index}: {remedy}")
        extents = []
        for values in zip(one, two):
            try:
                extent = _shapes.explained(values, places)
            except _shapes.Ambiguous as names:
                raise self._refusal(f"returns the shape {_shape(one)} as output {index} at {_text(places[0])}, where "
                                    f"an extent may be {names}: {remedy}") from None
            if extent is None:
                raise self._refusal(f"returns the shape {_shape(one)} as output {index} at {_text(places[0])}, and no "
                                    f"expression of the names explains it: {remedy}")
            extents.append(extent)
        return tuple(extents)

    def _check_odd_sizes(self, outputs, place):
        """Runs the reference at the small sizes that are added to the user's."""
        for name in self._definition.sizes:
            if name in self._definition.fixed:
                continue
            for size in ODD_SIZES:
                odd = {**place, name: size}
                try:
                    shapes = [_shapes.shape_of(extents, odd) for extents in self._all_extents()]
                    shapes += [_shapes.shape_of(output.extents, odd) for output in outputs]
                except _shapes.NotApplicable:
                    continue  # no case has this size
                if all(0 not in shape for shape in shapes):
                    self._check_shapes(self._run(odd)[0], [output.extents for output in outputs], odd,
                                       f"list {name} in fixed= if it takes the wanted sizes alone")

    def _rows(self, outputs, values, place):
        """Returns the name that counts rows of the outputs that depend on their own rows of the inputs alone."""
        inputs = self._definition.inputs
        names = {output.extents[0] if output.extents else "" for output in outputs}
        name = names.pop() if len(names) == 1 else ""
        inner = [extent for tensor in (*inputs, *outputs) for extent in tensor.extents[1:]]
        heads = [tensor.extents[0] for tensor in inputs if tensor.extents]
        bounds = [bound for tensor in inputs for bound in (tensor.low, tensor.high) if tensor.kind == "integers"]
        elsewhere = [*inner, *(head for head in heads if head != name), *(one for one in bounds if not is_number(one))]
        if name not in place or name in self._definition.fixed or name not in heads or place[name] < 3 or any(name in _shapes.names_of(one)
                                                                            for one in elsewhere):
            return ""
        # Rows are put into another order, and every third one is replaced by other numbers.
        order = numpy.random.default_rng(1).permutation(place[name])
        replaced = numpy.arange(place[name]) % 3 == 0
        changed = []
        for tensor, one, other in zip(inputs, self._inputs(place), self._inputs(place, seed=2)):
            if tensor.extents and tensor.extents[0] == name:
                one = one[order]
                one[replaced] = other[replaced]
            changed.append(one)
        try:
            found = self._run(place, changed)[0]
        except Refusal:
            return ""
        kept = ~replaced
        same = all(one.shape == two.shape and agree(two[order][kept], one[kept]) for one, two in zip(found, values))
        return name if same and all(self._keeps_rows(name, fewer, values, place) for fewer in (1, 2)) else ""

    def _keeps_rows(self, name, fewer, values, place):
        """Says whether the first rows are the same where there are no others: a mean over rows is not."""
        inputs = [one[:fewer] if tensor.extents and tensor.extents[0] == name else one
                  for tensor, one in zip(self._definition.inputs, self._inputs(place))]
        try:
            found = self._run({**place, name: fewer}, inputs)[0]
        except Refusal:
            return False
        return all(agree(one, two[:fewer]) for one, two in zip(found, values))


def _numbers(tensor, place, random):
    shape = _shapes.shape_of(tensor.extents, place)
    if tensor.kind == "integers":
        low, high = (int(bound) if is_number(bound) else _shapes.value_of(bound, place)
                     for bound in (tensor.low, tensor.high))
        if low > high:
            raise _shapes.NotApplicable(f"no integer is from {tensor.low} to {tensor.high}")
        return random.integers(low, high, shape, endpoint=True).astype(_NUMPY_DTYPES.get(tensor.dtype, numpy.float64))
    if tensor.kind == "uniform":
        return numpy.asarray(random.uniform(float(tensor.low), float(tensor.high), shape))
    return numpy.asarray(random.standard_normal(shape))


def _dtype_of(output):
    return INTEGER_DTYPES[output.dtype.name] if output.dtype.name in INTEGER_DTYPES else ""


def _terms(first, second, places):
    try:
        found = _shapes.explained((first, second), places) if first and second else None
    except _shapes.Ambiguous:
        found = None
    return found or str(max(first, second, 1))


def _text(place):
    return ",".join(f"{name}={size}" for name, size in place.items()) or "its only size"


def _shape(shape):
    return f"[{','.join(map(str, shape))}]"
