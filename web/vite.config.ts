import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'
import { mock } from './mock/plugin'
import { messages } from './src/messages'

const all: Record<string, Record<string, unknown>> = messages

/** inlined puts each message where it is used: otherwise the first page loads the words of every page. */
const inlined = {
  name: 'inlined-messages',
  apply: 'build' as const,
  enforce: 'pre' as const,
  transform: {
    filter: { code: /\bmessages\./ },
    handler: (code: string) => code.replace(/\bmessages\.(\w+)\.(\w+)/g, (path, area, key) => JSON.stringify(all[area]?.[key]) ?? path),
  },
}

// The build is written to where Go embeds it. Names are hashes of what is in the files, so that the same sources give the same bytes.
export default defineConfig(({ command, mode }) => ({
  plugins: [inlined, react(), ...(command === 'serve' && mode !== 'test' ? [mock()] : [])],
  build: {
    outDir: '../internal/dashboard/server/assets/dist',
    emptyOutDir: true,
    assetsInlineLimit: 0, // nothing becomes a data: URL
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    license: false,
  },
  server: { host: '127.0.0.1', port: 5199, strictPort: true },
  preview: { host: '127.0.0.1', port: 5198 },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}', 'mock/**/*.test.ts'],
    setupFiles: ['src/testing.ts'],
    css: false,
    testTimeout: 30_000,
  },
}))
