"""Results as pages: one self-contained HTML file per result, without network. Imports results and all below."""
