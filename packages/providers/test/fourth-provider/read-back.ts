import { fieldAt } from '../../src/event-fields.ts'
import type { ApiDialect } from '../../src/http/api-client.ts'
import { baseUrl } from '../../src/http/base-url.ts'
import { feedOf } from '../../src/http/feeds.ts'
import { readOne } from '../../src/http/objects.ts'
import { openReader } from '../../src/http/reader.ts'
import type { ReadBack } from '../../src/read-back.ts'

const DIALECT: ApiDialect = {
  name: 'The wallet',
  headers: key => ({ authorization: `Bearer ${key.reveal()}` }),
  codeOf: body => fieldAt(body, 'problem'),
  missingCodes: new Set(['no_such_return']),
  notNowCodes: new Set(),
  objectIn: body => body,
  pageQuery: page => ({ after: page }),
  pageIn: ({ returns, next }) => ({ items: returns, next }),
}

export const readBack: ReadBack = {
  limits: { requestsPerMinute: 100, concurrent: 2 },

  targetsOf: ({ action, providerRef }) =>
    action === 'refund' && providerRef !== null ? [{ type: 'refund', id: providerRef }] : [],

  open(options) {
    const parts = {
      dialect: DIALECT,
      limits: readBack.limits,
      base: baseUrl(options.apiBase ?? 'https://api.wallet.example'),
    }
    return openReader(
      {
        ...parts,
        async ask(client, { id }, budget) {
          const answer = await readOne(client, 'return', '/returns', id, budget)
          if (answer.kind !== 'object') return answer
          return { kind: 'found', objects: [{ type: 'return', body: answer.object }] }
        },
        changes: [
          (client, budget) =>
            feedOf(client, budget, {
              name: 'returns',
              list: from => ({ type: 'return', path: '/returns', query: { from } }),
              objects: async items => items.map(body => ({ type: 'return', body })),
            }),
        ],
        schedules: [],
      },
      options,
    )
  },
}
