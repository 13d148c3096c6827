"""What an attacker gains, and where the models of this house are the wrong tool."""
