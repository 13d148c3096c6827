"""What searches over full-domain generalizations share: the lattice with its costs, class tables, verdicts."""
