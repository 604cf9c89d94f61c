"""Kernels as LLVM code that is optimised once, in the functions that Python calls.

Numba by itself optimises every function with all that it calls, and makes machine code of it, before it compiles the
functions that call it. A function ten calls deep is optimised eleven times. Here a function that only kernels call
stays plain LLVM code, and each entry point is optimised together with everything that it calls.

This uses private classes of Numba: see docs/kernels.md.
"""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from llvmlite import binding
from numba import njit
from numba.core import ir, sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, compile_result
from numba.core.cpu import CPUContext
from numba.core.environment import Environment, lookup_environment
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.types.functions import BaseFunction

if TYPE_CHECKING:
    from namesake.kernels.compiled import Kernel

ENVIRONMENT, ADDRESSES = "_ZN08NumbaEnv", "numba.dynamic.globals"
"""How the names of variables begin that hold the constants of a function, and addresses of this process."""
WRAPPER = "_ZN7cpython"
"""How the name of the function begins that Python calls; it calls the kernel."""
UNUSED_PASSES = {
    *("with_lifting", "inline_closure_likes", "make_function_op_code_to_jit_function", "literal_unroll"),
    *("inline_inlinables", "inline_overloads", "nopython_rewrites", "dump_parfor_diagnostics"),
    *("ir_processing", "rewrite_semantic_constants", "dead_branch_prune"),
}
"""Passes of Numba's compiler for what kernels do without: closures, `with`, array expressions, inlining by hand,
arguments that are None. The first of the last three repeats an analysis."""

ALLOCATING = {"empty", "zeros", "full", "arange", "sort", "argsort", "array_equal", "copy"}
"""Names of functions that make arrays, as far as kernels call them. Where one is missing, Numba raises an error."""


class Library(JITCodeLibrary):  # type: ignore[misc]  # numba has no types
    """The code of a function. Only that of an entry point is optimised and becomes machine code."""

    is_entry = False
    environments: dict[str, Any]
    """The constants of the functions of an entry point, by the names of their variables."""

    def add_linking_library(self, library: Any) -> None:
        """Note a library whose functions this one calls."""
        if not isinstance(library, Library):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def get_pointer_to_function(self, name: str) -> int:
        """Where the machine code of an entry point begins that Python calls; 0 for other functions."""
        return super().get_pointer_to_function(name) if self.is_entry and name.startswith(WRAPPER) else 0

    def finalize(self) -> None:
        """Optimise the code with everything that it calls, and make machine code of it."""
        self._linking_libraries = list(self.callees())
        super().finalize()
        if self.is_entry:
            for name, constants in self.environments.items():
                self._codegen.set_env(name, constants)

    def _optimize_final_module(self) -> None:
        if self.is_entry:
            self._keep_apart()
        super()._optimize_final_module()

    def _keep_apart(self) -> None:
        """Hide functions, and rename the variables of their constants: other entry points have copies of both."""
        for function in self._final_module.functions:
            if function.name.startswith(WRAPPER):  # it only converts arguments
                function.add_function_attribute("noinline")
                function.add_function_attribute("optnone")
            elif not function.is_declaration:
                function.linkage = "private"  # the loader finds even internal functions by their names
        self.environments = {}
        for variable in list(self._final_module.global_variables):
            if variable.name.startswith(ENVIRONMENT):
                constants = lookup_environment(variable.name)
                variable.name = f"{variable.name}.{self.name}"
                if constants is not None:
                    self.environments[variable.name] = constants

    def callees(self) -> Iterator[Any]:
        """Every library that this one needs, each once."""
        seen, waiting = {self}, [self]
        while waiting:
            for library in waiting.pop()._linking_libraries:
                if library not in seen:
                    seen.add(library)
                    yield library
                    if isinstance(library, Library):
                        waiting.append(library)

    @cached_property
    def _part(self) -> Any:
        """The code of this function alone, for others to be linked with."""
        module = self._final_module.clone()
        for function in module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = "linkonce_odr"
        return module

    def _get_module_for_linking(self) -> Any:
        return super()._get_module_for_linking() if self._finalized else self._part


class _Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler without the passes that kernels do not need."""

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [one for one in manager.passes if one[0].name() not in UNUSED_PASSES]
        manager._ENFORCING = False  # no analysis after each pass that only checks the pass
        return [manager]


def _variables_in(inst: Any, values: Any) -> list[Any]:
    """The variables in a dict or sequence of an instruction: Numba's own function calls itself for each value."""
    found = []
    for value in values.values() if isinstance(values, dict) else values:
        if isinstance(value, ir.Var):
            found.append(value)
        elif isinstance(value, ir.Inst):
            found += value.list_vars()
        elif isinstance(value, (list, tuple, dict)):
            found += _variables_in(inst, value)
    return found


SIZES: dict[str, int] = {}  # of LLVM types, in bytes


def _size_of(context: Any, llvm_type: Any) -> int:
    """The size of a type, for which LLVM parses a module; Numba asks for it several times for each array."""
    text = str(llvm_type)
    if text not in SIZES:
        SIZES[text] = llvm_type.get_abi_size(context.target_data)
    return SIZES[text]


INFER = BaseFunction.get_call_type
SIGNATURES: dict[str, dict[Any, Any]] = {}
"""Of operators and functions of Numba, for each set of options: the caller's options apply to Numba's functions."""


def _signatures_remembered(options: dict[str, Any]) -> Callable[..., Any]:
    """Infers each signature once, not for each call."""
    known = SIGNATURES.setdefault(repr(options), {})

    def get_call_type(function: Any, context: Any, arguments: Any, named: Any) -> Any:
        key = function, arguments, tuple(dict(named).items())
        if key not in known:
            signature = INFER(function, context, arguments, named)
            known[key] = signature, function.get_impl_key(signature)
        signature, function._impl_keys[signature.args] = known[key]
        return signature

    return get_call_type


def prepare() -> None:
    """Load what the compiler needs, which takes a while."""
    cpu_target.target_context.refresh()
    rtsys.initialize(cpu_target.target_context)


def lower(kernel: "Kernel") -> Any:
    """A kernel as code that is not optimised yet; for callers that hold Numba's compiler lock."""
    for callee in kernel.callees:
        callee.lowered  # noqa: B018 - first, because compilers inside compilers are slower
    options = kernel.options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": _makes_arrays(kernel)}
    with _lowering((BaseFunction, "get_call_type", _signatures_remembered(options))):
        dispatcher = njit(nogil=True, pipeline_class=_Compiler, **options)(kernel.function)
        for signature in kernel.signatures:
            dispatcher.compile(signature)
        for result in dispatcher.overloads.values():
            result.fndesc.typemap = result.fndesc.calltypes = None  # large, and not needed any more
        dispatcher.disable_compile()
        return dispatcher


def _makes_arrays(kernel: "Kernel") -> bool:
    """Whether a kernel makes or returns arrays. Only there Numba has to count the references to arrays."""
    if not ALLOCATING.isdisjoint(kernel.function.__code__.co_names):
        return True
    models = cpu_target.target_context.data_model_manager
    returned = [sigutils.normalize_signature(one)[1] for each in (kernel, *kernel.callees) for one in each.signatures]
    return any(models[one].contains_nrt_meminfo() for one in returned)


def make_entry(kernel: "Kernel", number: int) -> Any:
    """Compile a kernel with everything that it calls, for one of its signatures, and keep it in the cache."""
    lowered = list(kernel.lowered.overloads.values())[number]
    context = cpu_target.target_context.subtarget(enable_nrt=True)  # so that it can return arrays
    description, constants = lowered.fndesc, lowered.environment
    with _lowering():
        library = Library(_codegen(), description.mangled_name)
        library.is_entry = True
        library.enable_object_caching()
        library.add_linking_library(lowered.library)
        context.refresh()
        context.create_cpython_wrapper(library, description, constants, None, release_gil=True)
        function = context.get_executable(library, description, constants)
    module = library._final_module
    needed = tuple((name, tuple(one.consts)) for name, one in library.environments.items())
    parts = description, constants, lowered.signature
    if not any(one.name.startswith(ADDRESSES) for one in module.global_variables):
        symbols = [one.name for one in module.functions if one.name.startswith(WRAPPER)] + list(library.environments)
        kernel.file(number).write(dumps((library.name, library._get_compiled_object(), symbols, needed, parts)))
    return _result(function, library, *parts)


def load_entry(kernel: "Kernel", number: int) -> Any:
    """A kernel as it was compiled for one of its signatures; None where it was not."""
    path = kernel.file(number).found()
    if path is None:
        return None
    context = cpu_target.target_context
    rtsys.initialize(context)  # arrays are allocated and freed by it
    with open(path, "rb") as file:  # noqa: PTH123 - a Path takes longer, for many files
        name, code, symbols, needed, parts = pickle.load(file)
    description, constants, _ = parts
    library = Library(_codegen(), name)
    library.is_entry = True
    library.enable_object_caching()
    library._set_compiled_object(code)
    library._finalize_final_module()
    _codegen()._engine._defined_symbols.update(symbols)
    with _lowering():
        function = context.get_executable(library, description, constants)
    library.environments = {}
    for name, consts in needed:
        library.environments[name] = one = Environment({"__name__": __name__})  # nothing looks for global variables
        one.consts[:] = consts
        _codegen().set_env(name, one)
    return _result(function, library, *parts)


def _codegen() -> Any:
    return cpu_target.target_context.codegen()


@contextmanager
def _lowering(*more: tuple[Any, str, Any]) -> Iterator[None]:
    """Have Numba compile functions to `Library` objects; for callers that hold its compiler lock."""
    codegen = _codegen()

    def set_env(name: str, environment: Any) -> None:
        if codegen._engine.is_symbol_defined(name):
            type(codegen).set_env(codegen, name, environment)

    changes = (
        (codegen, "_library_class", Library),
        (codegen, "set_env", set_env),
        # functions are optimised fully in entry points, and before that only as far as it makes them small
        (codegen, "_function_pass_manager", partial(type(codegen)._function_pass_manager, codegen, opt=1)),
        (CPUContext, "create_cfunc_wrapper", lambda *_: None),  # no C code calls the functions of Numba
        (CPUContext, "get_abi_sizeof", _size_of),
        (ir.Inst, "_rec_list_vars", _variables_in),
        *more,
    )
    before = [getattr(changed, name) for changed, name, _ in changes]
    for changed, name, ours in changes:
        setattr(changed, name, ours)
    try:
        yield
    finally:
        for (changed, name, _), theirs in zip(changes, before, strict=True):
            setattr(changed, name, theirs)


def _result(function: Any, library: Library, description: Any, constants: Any, signature: Any) -> Any:
    """A function as Numba's compiler returns it, as far as it is called and its parts stay in memory."""
    parts = {"fndesc": description, "library": library, "environment": constants}
    return compile_result(entry_point=function, signature=signature, objectmode=False, **parts)
