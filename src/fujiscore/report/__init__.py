"""What people look at: pictures as SVG, results in notebooks, and results as self-contained HTML pages."""
