"""What the host does with plug-ins: it discovers them, looks things up, places them and checks what they return."""
