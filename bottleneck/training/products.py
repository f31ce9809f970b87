"""Matrix products with bfloat16 operands and float32 sums, wherever a function takes them.

``jax.default_matmul_precision("BF16_BF16_F32")`` says the same, but XLA's CPU backend takes the
words and leaves the operands as they are (jax 0.10), and autodiff of a product of bfloat16 arrays
would round its result too. So the function is traced, gradient and all, and every product of its
program is replaced: none is forgotten, and the model's code does not know of it. (The technique is
that of JAX's tutorial on Jaxpr interpreters.)
"""

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, jaxpr_as_fun
from jaxtyping import Array, Float

PRODUCT = jax.lax.DotAlgorithmPreset.BF16_BF16_F32


def bfloat16_products(function: Callable) -> Callable:
    """The function of arrays with every float32 product rounded going in, not coming out."""

    @wraps(function)
    def rounded(*arguments: Any) -> Any:
        program, result = jax.make_jaxpr(function, return_shape=True)(*arguments)
        values = _run(program.jaxpr, program.consts, *jax.tree.leaves(arguments))
        return jax.tree.unflatten(jax.tree.structure(result), values)

    return rounded


def _run(program: Jaxpr, constants: Sequence[Any], *arguments: Any) -> list[Any]:
    """The program's results, each product replaced."""
    names = [*program.constvars, *program.invars]
    values = dict(zip(names, [*constants, *arguments], strict=True))

    def value(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else values[atom]

    for line in program.eqns:
        found = _run_line(line, [value(atom) for atom in line.invars])
        values.update(zip(line.outvars, found, strict=True))
    return [value(atom) for atom in program.outvars]


def _run_line(line: JaxprEqn, given: list[Any]) -> Sequence[Any]:
    parameters = {name: _replaced(value) for name, value in line.params.items()}
    if called := parameters.get("call_jaxpr"):
        return jaxpr_as_fun(called)(*given)  # its rule of differentiation has done its work
    if line.primitive.name == "dot_general" and all(x.dtype == jnp.float32 for x in given):
        return [_product(*given, parameters["dimension_numbers"])]
    found = line.primitive.bind(*given, **parameters)
    return found if line.primitive.multiple_results else [found]


def _product(
    left: Float[Array, "*left"], right: Float[Array, "*right"], dimensions: Any
) -> Float[Array, "*product"]:
    """Rounded as float32 arrays (to 8 bits of exponent, 7 of mantissa), and named as bfloat16.

    The name chooses an accelerator's unit. XLA's CPU backend does not heed it or, when older,
    refuses it, as it refuses some products of arrays that are bfloat16: there rounding is all.
    """

    def product(precision: Any, left: Array, right: Array) -> Array:
        return jax.lax.dot_general(
            left, right, dimensions, precision, preferred_element_type=jnp.float32
        )

    rounded = (jax.lax.reduce_precision(operand, 8, 7) for operand in (left, right))
    plain, named = partial(product, None), partial(product, PRODUCT)
    return jax.lax.platform_dependent(*rounded, cpu=plain, default=named)


def _replaced(parameter: Any) -> Any:
    """The same for programs within (of a scan, a branch, a call); anything else as it is."""
    match parameter:
        case ClosedJaxpr():
            run = partial(_run, parameter.jaxpr, parameter.consts)
            return jax.make_jaxpr(run)(*parameter.in_avals)
        case Jaxpr():
            run = partial(_run, parameter, ())
            return jax.make_jaxpr(run)(*(variable.aval for variable in parameter.invars)).jaxpr
        case (ClosedJaxpr(), *_):
            return tuple(_replaced(each) for each in parameter)
    return parameter
