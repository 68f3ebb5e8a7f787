"""How values become bytes: fingerprints, journal values, recorded exceptions, keys.

Two encodings, because they answer two questions. The *canonical* one says whether two values are the same; it is sorted, is
never read back, and lets foreign types in by name. The *value* encoding brings a value back as the type that it was; it
keeps order, and refuses what it could not rebuild. Neither may know runs, journals or agents.
"""

from flink_agents_subagent._engine.encoding.canonical import canonical, fingerprint, input_fingerprint
from flink_agents_subagent._engine.encoding.framing import pack_frames, unpack_frames
from flink_agents_subagent._engine.encoding.keys import key_bytes, key_value
from flink_agents_subagent._engine.encoding.kinds import Record
from flink_agents_subagent._engine.encoding.registry import TypeRegistry
from flink_agents_subagent._engine.encoding.values import ValueCodec

__all__ = [
    "Record",
    "TypeRegistry",
    "ValueCodec",
    "canonical",
    "fingerprint",
    "input_fingerprint",
    "key_bytes",
    "key_value",
    "pack_frames",
    "unpack_frames",
]
