"""What the site is made of besides its pages of prose."""
