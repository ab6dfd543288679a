import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startMemoryApi, type TestApi } from './test-api.ts'

const document = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8')

let testApi: TestApi
beforeAll(async () => {
  testApi = await startMemoryApi()
})
afterAll(() => testApi.stop())

test('docs/api.md lists every route with its scope and what it does, and no other', () => {
  const listed = document.match(/^\| `(?:GET|POST|PATCH|DELETE) .+\|$/gm) ?? []
  const mounted = testApi.app.routes.map(({ method, path, scope, summary }) => {
    const needed = scope === 'public' ? 'none' : `\`${scope}\``
    return `| \`${method.toUpperCase()} ${path}\` | ${needed} | ${summary} |`
  })
  expect(listed.toSorted()).toEqual(mounted.toSorted())
})
