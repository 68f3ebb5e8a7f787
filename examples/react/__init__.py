"""A travel planner: a ReAct agent with tools, a sub-agent elsewhere and a ReAct agent inside it. `python -m examples.react.job`."""
