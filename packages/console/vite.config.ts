import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The running admin-api that the dev server sends `/v1` to. */
const API = process.env.BACKSTOP_ADMIN ?? 'http://127.0.0.1:8082'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react({ jsxImportSource: '#jsx' })],
  build: {
    target: 'es2023',
    // The CSP allows images of this origin only by file or data URL; files are cached for ever.
    assetsInlineLimit: 0,
    manifest: true,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: { fileName: 'licenses.md' },
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: { '/v1': { target: API, changeOrigin: true, headers: { origin: API } } },
  },
})
