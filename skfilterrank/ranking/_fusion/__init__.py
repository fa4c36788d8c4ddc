"""Several systems' scores as one."""
