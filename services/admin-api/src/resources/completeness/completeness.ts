import { Completeness, CompletenessExport, CompletenessQuery } from '@backstop/contracts'
import { canonicalJson } from '@backstop/kit/audit'
import { findProject } from '../../http/find-resource.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route, type RouteRequest } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { EXPORT_PURPOSE } from '../audit/export-audit.ts'
import { findCounted, requiredPeriod } from '../stats/stats.ts'
import { readCompleteness } from './read-completeness.ts'
import { signedWords } from './rules/signed-words.ts'

const tag = 'Stats'

/** /v1/completeness */
export function completenessRoutes({ stores, secretBox }: AdminParts): Route[] {
  const read = async ({ query, principal, now, signal }: RouteRequest<unknown, Query, unknown>) => {
    const { connection_id, project_id } = query
    const connection =
      connection_id === undefined ? undefined : await findCounted(stores, principal, connection_id, project_id)
    const id = connection?.project_id ?? project_id
    if (id === undefined) throw refusedField('query.project_id', 'Give project_id or connection_id')
    const project = await findProject(stores, principal, id)
    const period = requiredPeriod(query, now)
    return readCompleteness(stores, { project, connection, period, now, signal })
  }
  return [
    defineRoute({
      method: 'get',
      path: '/v1/completeness',
      operationId: 'getCompleteness',
      tag,
      summary: 'State whether every refund and cancellation of a period was read and judged',
      description:
        'By connection: what the provider lists, what is recorded and judged, times in which the account was not read and when they were caught up, and what cannot be known. With the outages of Backstop (docs/completeness.md).',
      scope: 'read',
      query: CompletenessQuery,
      answers: { 200: { description: 'The statement', schema: Completeness } },
      refusals: ['not_found'],
      handle: async request => ({ status: 200, body: await read(request) }),
    }),
    defineRoute({
      method: 'get',
      path: '/v1/completeness/export',
      operationId: 'exportCompleteness',
      tag,
      summary: 'Export the statement of completeness in words, with a signature',
      description:
        'Signed with the key pair of the exports of the audit, so `GET /v1/audit/public-keys` has the public keys. `backstop completeness verify` verifies it without this service.',
      scope: 'read',
      query: CompletenessQuery,
      answers: { 200: { description: 'The statement and its signature', schema: CompletenessExport } },
      refusals: ['not_found'],
      async handle(request) {
        const whole = await read(request)
        const statement = signedWords(whole)
        const { keyId, signature } = secretBox.signPublicly(EXPORT_PURPOSE, canonicalJson(statement))
        const name = `completeness-${request.query.connection_id ?? whole.project_id}-${whole.from.slice(0, 10)}`
        return {
          status: 200,
          headers: { 'content-disposition': `attachment; filename="${name}.json"` },
          body: { statement, key_id: keyId, signature } satisfies CompletenessExport,
        }
      },
    }),
  ]
}

type Query = (typeof CompletenessQuery)['_output']
