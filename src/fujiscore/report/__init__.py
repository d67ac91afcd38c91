"""What people look at: pictures as SVG, results in notebooks."""
