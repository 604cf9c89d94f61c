"""Kernels as LLVM code that is optimised once, in the functions that Python calls.

Numba by itself optimises every function with all that it calls, and makes machine code of it, before it compiles the
functions that call it. A function ten calls deep is optimised eleven times. Here a function that only kernels call
stays plain LLVM code, and each entry point is optimised together with everything that it calls.

This uses private classes of Numba: see docs/kernels.md.
"""

import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from llvmlite import binding
from numba import _dynfunc, njit
from numba.core import ir, sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, compile_result
from numba.core.cpu import CPUContext
from numba.core.environment import Environment, lookup_environment
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys
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

ALLOCATING = {"empty", "zeros", "ones", "full", "arange", "sort", "argsort", "array_equal", "copy"}
"""Names of functions that make arrays, as far as kernels call them. Where one is missing, Numba raises an error."""


class Library(JITCodeLibrary):  # type: ignore[misc]  # numba has no types
    """The LLVM code of a function. That of an entry point becomes machine code, with everything that it calls."""

    def add_linking_library(self, library: Any) -> None:
        """Note a library whose functions this one calls."""
        if not isinstance(library, Library):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def get_pointer_to_function(self, name: str) -> int:
        """The address of machine code: 0, because there is none."""
        return 0

    def machine_code(self) -> tuple[bytes, dict[str, Any]]:
        """The optimised machine code of an entry point, and the constants of its functions by their variables."""
        for library in self.callees():
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        environments = self._keep_apart()
        self._optimize_final_module()
        self._final_module.verify()
        self._verify_declare_only_symbols()
        return self._codegen._tm.emit_object(self._final_module), environments

    def _keep_apart(self) -> dict[str, Any]:
        """Hide functions, and rename the variables of their constants: other entry points have copies of both.

        What Python calls only converts arguments, which takes longer to optimise than it could save.
        """
        for function in self._final_module.functions:
            if function.name.startswith(WRAPPER):
                function.add_function_attribute("noinline")
                function.add_function_attribute("optnone")
            elif not function.is_declaration:
                function.linkage = "private"  # the loader finds even internal functions by their names
        environments = {}
        for name in self.variables(ENVIRONMENT):
            variable, constants = self._final_module.get_global_variable(name), lookup_environment(name)
            variable.name = f"{name}.{self.name}"
            if constants is not None:
                environments[variable.name] = constants.consts
        return environments

    def variables(self, beginning: str) -> list[str]:
        """The names of the variables of the code that begin so."""
        return [one.name for one in self._final_module.global_variables if one.name.startswith(beginning)]

    def callees(self) -> list[Any]:
        """Every library that this one needs, each once; Numba's own last, as code that is not called is not linked."""
        found, waiting = {self: None}, [self]
        while waiting:
            for library in waiting.pop()._linking_libraries:
                if library not in found:
                    found[library] = None
                    waiting += [library] if isinstance(library, Library) else []
        return sorted(list(found)[1:], key=lambda library: not isinstance(library, Library))

    def _get_module_for_linking(self) -> Any:
        return self.part

    @cached_property
    def part(self) -> Any:
        """The code of this function alone, for others to be linked with."""
        module = self._final_module.clone()
        for function in module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = "linkonce_odr"
        return module


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


SIZES: dict[str, int] = {}
"""The sizes of LLVM types, in bytes."""


def _size_of(context: Any, llvm_type: Any) -> int:
    """The size of a type, for which LLVM parses a module; Numba asks for it several times for each array."""
    text = str(llvm_type)
    if text not in SIZES:
        SIZES[text] = llvm_type.get_abi_size(context.target_data)
    return SIZES[text]


FUNCTIONS: Any = BaseFunction
INFER = FUNCTIONS.get_call_type
SIGNATURES: dict[str, dict[Any, Any]] = {}
"""The signatures of operators and functions of Numba, for each set of options: functions of Numba are compiled with
the options of the caller."""


@contextmanager
def _signatures_remembered(options: dict[str, Any]) -> Iterator[None]:
    """Infer each signature once, not for each call; for callers that hold Numba's compiler lock."""
    known = SIGNATURES.setdefault(repr(options), {})

    def get_call_type(function: Any, context: Any, arguments: Any, named: Any) -> Any:
        key = function, arguments, tuple(dict(named).items())
        if key not in known:
            signature = INFER(function, context, arguments, named)
            known[key] = signature, function.get_impl_key(signature)
        signature, function._impl_keys[signature.args] = known[key]
        return signature

    with _changed((FUNCTIONS, "get_call_type", get_call_type)):
        yield


def prepare() -> None:
    """Load what the compiler needs, which takes a while."""
    cpu_target.target_context.refresh()
    rtsys.initialize(cpu_target.target_context)


def lower(kernel: "Kernel") -> Any:
    """A kernel as code that is not optimised yet; for callers that hold Numba's compiler lock."""
    for callee in kernel.callees:
        callee.lowered  # noqa: B018 - first, because compilers inside compilers are slower
    options = kernel.options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": _makes_arrays(kernel)}
    rtsys.initialize(cpu_target.target_context)  # before, because its functions are not kernels
    with _lowering(_codegen()), _signatures_remembered(options):
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
    with _lowering(_codegen()):
        library = Library(_codegen(), description.mangled_name)
        library.add_linking_library(lowered.library)
        context.refresh()
        context.create_cpython_wrapper(library, description, constants, None, release_gil=True)
        code, environments = library.machine_code()
    parts = description.llvm_cpython_wrapper_name, code, constants.consts, environments
    if not library.variables(ADDRESSES):
        kernel.file(number).write(dumps(parts))
    return _loaded(kernel, number, *parts)


def load_entry(kernel: "Kernel", number: int) -> Any:
    """A kernel as it was compiled for one of its signatures; None where it was not."""
    data = kernel.file(number).read()
    return None if data is None else _loaded(kernel, number, *pickle.loads(data))


def _loaded(kernel: "Kernel", number: int, name: str, code: bytes, own: list[Any], others: dict[str, list[Any]]) -> Any:
    """Machine code as Numba's compiler returns it: the function that Python calls, and constants by their variables."""
    _register_runtime()
    codegen, engine = _codegen(), _codegen()._engine._ee
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    kept = [_environment(constants) for constants in (own, *others.values())]
    for variable, environment in zip(others, kept[1:], strict=True):
        type(codegen).set_env(codegen, variable, environment)  # also while other code is lowered
    address = engine.get_function_address(name)
    function = _dynfunc.make_function(
        sys.modules[kernel.__module__], kernel.__name__, kernel.__doc__, address, kept[0], tuple(kept)
    )
    arguments, result = sigutils.normalize_signature(kernel.signatures[number])
    return compile_result(entry_point=function, signature=result(*arguments), objectmode=False)


def _environment(constants: list[Any]) -> Any:
    environment = Environment({"__name__": __name__})  # nothing looks for global variables
    environment.consts[:] = constants
    return environment


@cache
def _register_runtime() -> None:
    """Register the functions of Numba's runtime that machine code calls. Those in LLVM code are part of it already."""
    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def _codegen() -> Any:
    return cpu_target.target_context.codegen()


@contextmanager
def _lowering(codegen: Any) -> Iterator[None]:
    """Have Numba compile functions to `Library` objects; for callers that hold its compiler lock."""
    # functions are optimised fully in entry points, and before that only as far as it makes them small
    first_passes = partial(type(codegen)._function_pass_manager, codegen, opt=1)
    with _changed(
        (codegen, "_library_class", Library),
        (codegen, "set_env", lambda *_: None),  # there is no machine code with constants
        (codegen, "_function_pass_manager", first_passes),
        (CPUContext, "create_cfunc_wrapper", lambda *_: None),  # no C code calls the functions of Numba
        (CPUContext, "get_abi_sizeof", _size_of),
        (ir.Inst, "_rec_list_vars", _variables_in),
    ):
        yield


@contextmanager
def _changed(*changes: tuple[Any, str, Any]) -> Iterator[None]:
    """Give attributes of objects and classes other values inside the block."""
    before = [(changed, name, getattr(changed, name)) for changed, name, _ in changes]
    for changed, name, ours in changes:
        setattr(changed, name, ours)
    try:
        yield
    finally:
        for changed, name, theirs in before:
            setattr(changed, name, theirs)
