import type { ShownOperation } from '@backstop/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useSession } from '../../session/session.ts'

function auditQuery({ operation_id, project_id, version }: ShownOperation) {
  return queryOptions({
    queryKey: ['audit', 'of', operation_id, version],
    queryFn: ({ signal }) => api.audit.list({ target: operation_id, project_id, limit: 50 }, { signal }),
  })
}

export interface Actors {
  /** The key or person that reported the operation. Only administrators may read it. */
  readonly askedBy: string | null
  readonly decidedBy: string | null
}

/** Who asked for an operation and who decided, by name. */
export function useActors(operation: ShownOperation & { readonly decided_by_name?: string | null }): Actors {
  const { me, may } = useSession()
  const { data } = useQuery({ ...auditQuery(operation), enabled: may('admin', operation.project_id) })
  const deciderId = operation.approval?.decided_by ?? null
  return {
    askedBy: data?.data.find(({ action }) => action === 'operation.create')?.actor?.name ?? null,
    decidedBy: deciderId !== null && deciderId === me?.id ? 'you' : (operation.decided_by_name ?? deciderId),
  }
}
