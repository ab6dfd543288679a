import { expect, test } from 'vitest'
import { measureSizes } from './sizes.ts'

const MANIFEST = {
  'index.html': { file: 'main.js', isEntry: true, imports: ['_shared.js'] },
  '_shared.js': { file: 'shared.js' },
  '_list.js': { file: 'list.js', imports: ['_shared.js'] },
  'src/pages/a.tsx': { file: 'a.js', isDynamicEntry: true, imports: ['_list.js', '_shared.js'] },
  'src/pages/b.tsx': { file: 'b.js', isDynamicEntry: true, imports: ['index.html'] },
}

test('counts of a page what it needs beyond the initial JavaScript', () => {
  const bytes: Record<string, number> = {
    'main.js': 100_000,
    'shared.js': 50_000,
    'list.js': 40_000,
    'a.js': 5_000,
    'b.js': 7,
  }
  expect(measureSizes(MANIFEST, file => bytes[file] ?? 0)).toEqual({
    initial: 150_000,
    pages: [
      { page: 'pages/a.tsx', bytes: 45_000 },
      { page: 'pages/b.tsx', bytes: 7 },
    ],
    faults: [],
  })
})

test('names each size above its budget', () => {
  const bytes: Record<string, number> = { 'main.js': 190_000, 'shared.js': 20_000, 'list.js': 40_000, 'a.js': 30_000 }
  expect(measureSizes(MANIFEST, file => bytes[file] ?? 0).faults).toEqual([
    'The initial JavaScript has 210.0 KB compressed; the budget is 200.0 KB. Import what is large only where it is shown',
    'pages/a.tsx has 70.0 KB compressed; the budget is 60.0 KB. Import what is large only where it is shown',
  ])
})
