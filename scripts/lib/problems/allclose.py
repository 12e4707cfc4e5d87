"""What allclose says of a variant of a problem, as the benchmark does it: the model in f32 beside the variant, on the
file's inputs of some seeds, with the same absolute and relative tolerance."""
import random

import numpy
import torch

from problems.variants import module_of, new_model

TOLERANCES = (1e-2, 1e-4)


def seeded(seed, make, arguments=()):
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)
    if len(arguments) == 2 and isinstance(arguments[0], list) and isinstance(arguments[1], dict):
        return make(*arguments[0], **arguments[1])
    return make(*arguments)


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for item in value for tensor in tensors_of(item)]


def judged(path, variant, seeds):
    """Returns {"changes": true, "0.01": true, "0.0001": false}: whether the variant changes a bit, and passes at each
    tolerance. None where it has nothing to change."""
    module = module_of(path)
    arguments = seeded(0, module.get_init_inputs)
    model = seeded(0, module.Model, arguments)
    wrong = seeded(0, new_model(variant, path), arguments)
    wrong.load_state_dict(model.state_dict())
    changes, passed = False, dict.fromkeys(TOLERANCES, True)
    for seed in range(seeds):
        with torch.no_grad():
            inputs = seeded(seed, module.get_inputs)
            try:
                results = tensors_of(wrong(*inputs))
            except NotImplementedError:
                return None
            wanted = tensors_of(model(*seeded(seed, module.get_inputs)))
        for one, other in zip(results, wanted):
            changes |= not torch.equal(one, other)
            for tolerance in TOLERANCES:
                passed[tolerance] &= one.shape == other.shape and torch.allclose(other, one, atol=tolerance, rtol=tolerance)
    return {"changes": changes, **{str(tolerance): is_right for tolerance, is_right in passed.items()}}
