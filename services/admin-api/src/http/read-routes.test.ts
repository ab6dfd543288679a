import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { ListQuery } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createMemoryStores } from '../../test/memory-stores.ts'
import { secretBoxOfTests } from '../../test/test-api.ts'
import type { Principal } from '../access/rules/access.ts'
import { createMongoCollection } from '../store/mongo-collection.ts'
import { createListCursors } from './cursor.ts'
import { listRoute } from './read-routes.ts'

interface Book {
  readonly _id: string
  readonly project_id: string
  readonly made: Date
}

const principal: Principal = {
  kind: 'person',
  id: 'per_1',
  name: 'Ada',
  sessionId: 'ses_1',
  keyHash: null,
  grants: [],
  projectIds: null,
}

test('a whole list has nothing more of a project once its reader lost the role there', async () => {
  const collection = createMongoCollection<Book>(createMemoryStores().db, 'projects')
  for (let index = 0; index < 450; index++) {
    const project_id = index % 2 === 0 ? 'library' : 'archive'
    await collection.put({ _id: `book ${index}`, project_id, made: new Date(index) })
  }
  const route = listRoute({
    path: '/v1/books',
    operationId: 'listBooks',
    tag: 'Books',
    summary: 'List books',
    items: 'books',
    isStreamable: true,
    schema: z.object({ project_id: z.string() }),
    collection,
    sortedBy: 'made',
    show: ({ project_id }) => ({ project_id }),
  })
  const { stream } = await route.handle({
    query: { ...ListQuery.parse({}), format: 'ndjson' },
    principal,
    authorize: async () => ({ ...principal, projectIds: ['library'] }),
    signal: new AbortController().signal,
    cursors: createListCursors(secretBoxOfTests, {
      list: 'listBooks',
      projectId: undefined,
      params: {},
      query: {},
      body: undefined,
    }),
    now: new Date(0),
  } as never)
  const out = new PassThrough()
  const [answer] = await Promise.all([text(out), stream?.(out)])
  const lines = answer.trimEnd().split('\n')
  // The first page of 200 was read with the role for all projects.
  expect(lines.filter(line => line.includes('archive'))).toHaveLength(100)
  expect(lines.filter(line => line.includes('library'))).toHaveLength(225)
})
