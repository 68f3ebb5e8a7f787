"""An agent on a stream: the operators of decision 0005 in a Flink graph. Submission side only."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pyflink.common import TypeInformation, Types
from pyflink.common.typeinfo import PickledBytesTypeInfo, RowTypeInfo, _from_java_type
from pyflink.datastream import DataStream, KeyedStream, KeySelector, StreamExecutionEnvironment
from pyflink.java_gateway import get_gateway

from flink_agents_subagent._flink.formats import InputFormat, OutputFormat
from flink_agents_subagent._flink.selector import KEY_TYPES, dump_selector
from flink_agents_subagent._flink.shipping import add_jar, check_java, java_version, python_executable, ship_python
from flink_agents_subagent._plan.wire import python_version
from flink_agents_subagent.errors import DefinitionError
from flink_agents_subagent.options import OptionValue

__all__ = ["KEY_TYPES", "AgentOperator", "Keying", "Submission", "attach", "dead_letters", "output_format", "typed"]

_SETTINGS_VERSION = 1
_DEAD_LETTER = "dead-letter"

KeySource = Literal["selector", "field", "keyed", "keyed-pickle"]


@dataclass(frozen=True, slots=True)
class Keying:
    """How inputs get their key: by a selector, by a field, or neither for a stream that brings keys."""

    selector: Callable[[Any], Any] | KeySelector | None = None
    key_type: type[Any] | None = None
    field: str | None = None
    is_paired: bool = False
    """The stream is of rows (key, input) that nothing has partitioned by key yet."""


@dataclass(frozen=True, slots=True)
class Submission:
    """What an agent's operators are told."""

    agent: str
    plan: bytes
    options: Mapping[str, OptionValue]
    submission_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def uid(self) -> str:
        """The uid of the agent's operator, by which savepoints find its state (E5.1)."""
        return f"agent-{self.agent}"

    def renewed(self) -> Submission:
        """Return the same under a new submission id."""
        return Submission(self.agent, self.plan, self.options)


class AgentOperator(NamedTuple):
    """The agent in the graph."""

    j_stream: Any
    output_format: OutputFormat


class _Element(NamedTuple):
    """What one element of the input stream is to the key operator."""

    format: InputFormat
    is_keyed: bool
    key_source: KeySource


def attach(stream: DataStream, keying: Keying, submission: Submission, output: OutputFormat) -> AgentOperator:
    """Put an agent behind a stream.

    Guarantee: inputs of one key reach the agent in the order in which the stream's operator emits them.

    Raises:
        DefinitionError: The stream cannot be keyed as asked, the selector cannot be sent, or Java is too old; or the
            store needs checkpoints that do not overlap, and the environment allows several at a time; or an event log in
            files has no folder.
    """
    environment = stream.get_execution_environment()
    check_java(java_version())
    _refuse_overlapping_checkpoints(environment, submission.options)
    _refuse_log_without_folder(submission.options)
    add_jar(environment)
    element = _element_of(stream, keying)
    ship_python(environment)
    keyed = _key(stream, element, keying, submission)
    classes = get_gateway().jvm.io.github.flinkagents.subagent.operator
    settings = {
        **_common(environment),
        "job-identifier": submission.options["job-identifier"] or submission.submission_id,
        "submission-id": submission.submission_id,
        "operator-uid": submission.uid,
        "agent": submission.agent,
        "input-format": element.format,
        "output-format": output,
        "options": dict(submission.options),
    }
    factory = classes.AgentOperatorFactory(submission.plan, _json(settings))
    j_stream = (
        keyed.keyBy(classes.KeyedRowSelector(), Types.STRING().get_java_type_info())
        .transform(submission.uid, _stream_type(output).get_java_type_info(), factory)
        .uid(submission.uid)
    )
    return AgentOperator(j_stream, output)


def typed(operator: AgentOperator, output_type: TypeInformation | None) -> DataStream:
    """Return the outputs as a PyFlink stream of the type; one that `output_format` has no word for costs a Python worker."""
    stream = DataStream(operator.j_stream)
    if output_type is None or output_format(output_type) != "pickle":
        return stream
    return stream.map(_same, output_type=output_type)


def output_format(output_type: TypeInformation | None) -> OutputFormat:
    """Return the format in which an operator emits for a stream of this type."""
    if output_type == Types.STRING():
        return "string"
    return "bytes" if output_type == Types.PRIMITIVE_ARRAY(Types.BYTE()) else "pickle"


def dead_letters(operator: AgentOperator) -> DataStream:
    """Return the side output of inputs whose run failed (E1.8)."""
    pickled = Types.PICKLED_BYTE_ARRAY().get_java_type_info()
    tag = get_gateway().jvm.org.apache.flink.util.OutputTag(_DEAD_LETTER, pickled)
    return DataStream(operator.j_stream.getSideOutput(tag))


def _refuse_overlapping_checkpoints(
    environment: StreamExecutionEnvironment, options: Mapping[str, OptionValue]
) -> None:
    # What subtasks that share a partition still need is told from the order of checkpoints (S2.5).
    concurrent = environment.get_checkpoint_config().get_max_concurrent_checkpoints()
    if options["action-state-store"] == "kafka" and concurrent > 1:
        raise DefinitionError(
            f"execution.checkpointing.max-concurrent-checkpoints is {concurrent}, but the Kafka store deletes records by the "
            "order of checkpoints, which must not overlap; set it to 1"
        )


def _refuse_log_without_folder(options: Mapping[str, OptionValue]) -> None:
    if options["event-log"] == "file" and options["event-log.file.directory"] is None:
        raise DefinitionError(
            "event-log is 'file', and event-log.file.directory is not set; set it to a folder that the TaskManagers may write to"
        )


def _key(stream: DataStream, element: _Element, keying: Keying, submission: Submission) -> Any:
    environment = stream.get_execution_environment()
    uid = f"{submission.uid}-key"
    settings = {
        **_common(environment),
        "operator-uid": uid,
        "element": element.format,
        "keyed": element.is_keyed,
        "key-source": element.key_source,
        "key-field": keying.field,
    }
    factory = get_gateway().jvm.io.github.flinkagents.subagent.operator.KeyOperatorFactory(
        _json(settings), _selector_of(element, keying)
    )
    j_stream = stream._j_data_stream
    row_type = Types.ROW_NAMED(["key", "value"], [Types.STRING(), Types.PRIMITIVE_ARRAY(Types.BYTE())])
    is_partitioned = isinstance(stream, KeyedStream)
    if not is_partitioned:
        # Forward: between operators of different parallelism Flink would deal inputs out in turn, and their order be lost.
        j_stream = j_stream.forward()
    keyed = j_stream.transform(uid, row_type.get_java_type_info(), factory).uid(uid)
    if not is_partitioned:
        keyed = keyed.setParallelism(stream._j_data_stream.getParallelism())
    return keyed


def _selector_of(element: _Element, keying: Keying) -> bytes:
    if element.key_source == "keyed-pickle":
        return dump_selector(_same, keying.key_type, "pickle")
    if element.key_source != "selector":
        return b""
    selector = keying.selector.get_key if isinstance(keying.selector, KeySelector) else keying.selector
    if not callable(selector):
        raise DefinitionError(f"the key selector is {keying.selector!r}; give a function of the input")
    return dump_selector(selector, keying.key_type, element.format)


def _element_of(stream: DataStream, keying: Keying) -> _Element:
    given = [
        name for name, value in (("key_selector", keying.selector), ("key_field", keying.field)) if value is not None
    ]
    element_type = _from_java_type(stream._j_data_stream.getTransformation().getOutputType())
    if isinstance(stream, KeyedStream):
        if given:
            raise DefinitionError(
                f"the stream is keyed already; leave out {' and '.join(given)}, or give the stream before key_by"
            )
        key_type, value_type = element_type.get_field_types()
        is_pickled = isinstance(key_type, PickledBytesTypeInfo)
        return _Element(_format_of(value_type), True, "keyed-pickle" if is_pickled else "keyed")
    if keying.is_paired:
        return _Element(_format_of(element_type.get_field_types()[1]), True, "keyed")
    if len(given) != 1:
        raise DefinitionError(
            "from_datastream needs one of key_selector and key_field"
            + (", not both" if given else ", unless the stream is keyed: key_selector=lambda value: value['user']")
        )
    element = _Element(_format_of(element_type), False, "selector" if keying.field is None else "field")
    if keying.field is not None:
        _check_field(keying.field, element_type, element)
    return element


def _check_field(field: str, element_type: TypeInformation, element: _Element) -> None:
    if element.format == "pickle":
        raise DefinitionError(
            f"key_field={field!r} is read in Java, which cannot look into pickled Python objects; "
            "use key_selector, or give the stream a type"
        )
    names = element_type.get_field_names() if isinstance(element_type, RowTypeInfo) else []
    if element.format == "java" and field not in names:
        raise DefinitionError(f"key_field={field!r} is no field of {element_type}; it has {', '.join(names) or 'none'}")


def _format_of(element_type: TypeInformation) -> InputFormat:
    if isinstance(element_type, PickledBytesTypeInfo):
        return "pickle"
    if element_type == Types.STRING():
        return "string"
    return "bytes" if element_type == Types.PRIMITIVE_ARRAY(Types.BYTE()) else "java"


def _stream_type(output: OutputFormat) -> TypeInformation:
    match output:
        case "pickle":
            return Types.PICKLED_BYTE_ARRAY()
        case "bytes":
            return Types.PRIMITIVE_ARRAY(Types.BYTE())
        case "string" | "json":
            return Types.STRING()


def _common(environment: StreamExecutionEnvironment) -> dict[str, Any]:
    return {
        "version": _SETTINGS_VERSION,
        "python-version": python_version(),
        "python-executable": python_executable(environment),
    }


def _json(settings: Mapping[str, Any]) -> bytes:
    return json.dumps(settings, sort_keys=True).encode("utf-8")


def _same(value: Any) -> Any:
    return value
