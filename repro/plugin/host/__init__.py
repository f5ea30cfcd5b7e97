"""The host of plug-ins: it discovers them, finds their algorithms, runs them in a process and checks their results."""
