import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^offstage$/, replacement: here('./src/index.ts') },
      { find: /^offstage\/machines$/, replacement: here('./machines/index.ts') },
      { find: /^offstage\/sqlite$/, replacement: here('./src/store/sqlite/index.ts') },
      { find: /^offstage\/(\w+)$/, replacement: here('./src/$1/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    reporters: ['default'],
    typecheck: {
      enabled: true,
      include: ['test/types/**/*.test-d.ts'],
      tsconfig: './tsconfig.json',
    },
  },
});
