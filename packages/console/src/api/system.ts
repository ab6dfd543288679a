/** What belongs to the whole installation: projects, keys, people, sessions, the audit, dead letters and processes. */
import type { ApiKey, Person } from '@backstop/client'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { allOf, defineItem, defineList } from './resource.ts'

export type { AuditEntry as AuditRow } from '@backstop/client'
export type Scope = ApiKey['scopes'][number]
export type Role = Person['roles'][number]['role']

export const projectList = defineList('projects', api.projects.list, ({ project_id }) => project_id)
export const projectQuery = defineItem('projects', api.projects.get)
/** All projects that the signed-in key or person may see. A person sees few, so all pages are read. */
export const projectsQuery = queryOptions({
  queryKey: ['projects', 'all'],
  queryFn: ({ signal }) => allOf(api.projects.list({ limit: 200 }, { signal })),
  staleTime: 5 * 60_000,
})

export const keyList = defineList('keys', api.apiKeys.list, ({ key_id }) => key_id)
export const keyQuery = defineItem('keys', api.apiKeys.get)

export const personList = defineList('people', api.people.list, ({ person_id }) => person_id)
export const personQuery = defineItem('people', api.people.getPerson)

export const sessionList = defineList('sessions', api.sessions.list, ({ session_id }) => session_id)

export const auditList = defineList('audit', api.audit.list, ({ audit_id }) => audit_id)

export const deadLetterList = defineList('dead-letters', api.deadLetters.list, ({ dead_letter_id }) => dead_letter_id, {
  // A letter leaves the list when the notifier has processed the command, soon after the answer to the request.
  repeatMs: 3_000,
})

export const secretKeysQuery = queryOptions({
  queryKey: ['secret-keys'],
  queryFn: ({ signal }) => api.secretKeys.get({ signal }),
})

export type InstallationWork = Awaited<ReturnType<typeof api.installation.get>>
export type Processes = Awaited<ReturnType<typeof api.processes.get>>['processes']

/** No live event has the state of the installation, so it is read again while it is shown. */
const WATCHED = { staleTime: 0, refetchInterval: 15_000 } as const

export const installationQuery = queryOptions({
  queryKey: ['installation'],
  queryFn: ({ signal }) => api.installation.get({ signal }),
  ...WATCHED,
})

export const processesQuery = queryOptions({
  queryKey: ['processes'],
  queryFn: async ({ signal }) => (await api.processes.get({ signal })).processes,
  ...WATCHED,
})
