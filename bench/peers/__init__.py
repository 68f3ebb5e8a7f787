"""The jobs that ours are compared with, one package a contestant, one module a measure."""
