"""The PyFlink types that our public signatures mention, so that only this package imports pyflink."""

from pyflink.common import JobExecutionResult, TypeInformation
from pyflink.datastream import DataStream, KeySelector, StreamExecutionEnvironment

__all__ = ["DataStream", "JobExecutionResult", "KeySelector", "StreamExecutionEnvironment", "TypeInformation"]
