"""What end-to-end runs, the demo and cluster tests are made with: Flink clusters and servers as processes of their own.

Owns processes, their folders and their clean-up; must not know any agent, and imports neither pyflink nor anything of the package but
the HTTP servers of its test kit.
"""
