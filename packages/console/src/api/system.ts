import type { ApiKey, DeadLetter, Person, Session } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { defineList } from './list.ts'

export type AuditRow = Awaited<ReturnType<typeof api.audit.list>>['data'][number]
type AuditQuery = NonNullable<Parameters<typeof api.audit.list>[0]>
export type AuditFilter = Omit<AuditQuery, 'limit' | 'cursor' | 'format'>
export type Scope = ApiKey['scopes'][number]
export type Role = Person['roles'][number]['role']

export const keyList = defineList<ApiKey, { project_id?: string }>({
  resource: 'keys',
  read: (query, signal) => api.apiKeys.list(query, { signal }),
  idOf: key => key.key_id,
})

export function keyQuery(id: string) {
  return queryOptions({ queryKey: ['keys', 'one', id], queryFn: ({ signal }) => api.apiKeys.get(id, { signal }) })
}

export const personList = defineList<Person, { project_id?: string }>({
  resource: 'people',
  read: (query, signal) => api.people.list(query, { signal }),
  idOf: person => person.person_id,
})

export function personQuery(id: string) {
  return queryOptions({
    queryKey: ['people', 'one', id],
    queryFn: ({ signal }) => api.people.getPerson(id, { signal }),
  })
}

export const sessionList = defineList<Session, Record<string, never>>({
  resource: 'sessions',
  read: (query, signal) => api.sessions.list(query, { signal }),
  idOf: session => session.session_id,
})

export const auditList = defineList<AuditRow, { [K in keyof AuditFilter]: AuditFilter[K] }>({
  resource: 'audit',
  read: (query, signal) => api.audit.list(query, { signal }),
  idOf: row => row.audit_id,
})

type DeadLetterQuery = NonNullable<Parameters<typeof api.deadLetters.list>[0]>
type DeadLetterFilter = Pick<DeadLetterQuery, 'project_id' | 'kind'>

export const deadLetterList = defineList<DeadLetter, { [K in keyof DeadLetterFilter]: DeadLetterFilter[K] }>({
  resource: 'dead-letters',
  read: (query, signal) => api.deadLetters.list(query, { signal }),
  idOf: letter => letter.dead_letter_id,
  // A letter leaves the list when the notifier has processed the command, soon after the answer to the request.
  repeatMs: 3_000,
})

export const secretKeysQuery = queryOptions({
  queryKey: ['secret-keys'],
  queryFn: ({ signal }) => api.secretKeys.get({ signal }),
})

export type InstallationWork = Awaited<ReturnType<typeof api.installation.get>>
export type Processes = Awaited<ReturnType<typeof api.processes.get>>['processes']
const INSTALLATION_MS = 15_000

/** No live event has it, so it is read again while it is shown. */
export const installationQuery = queryOptions({
  queryKey: ['installation'],
  queryFn: ({ signal }) => api.installation.get({ signal }),
  staleTime: 0,
  refetchInterval: INSTALLATION_MS,
})

export const processesQuery = queryOptions({
  queryKey: ['processes'],
  queryFn: async ({ signal }) => (await api.processes.get({ signal })).processes,
  staleTime: 0,
  refetchInterval: INSTALLATION_MS,
})
