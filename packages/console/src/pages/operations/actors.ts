import type { ShownOperation } from '@backstop/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { usePrincipalName } from '../../parts/name-of.tsx'
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

/** Who asked for an operation and who decided, by name where the signed-in person may see names. */
export function useActors(operation: ShownOperation): Actors {
  const { me, may } = useSession()
  const { data } = useQuery({ ...auditQuery(operation), enabled: may('admin', operation.project_id) })
  const nameOf = (actions: readonly string[]) =>
    data?.data.find(({ action }) => actions.includes(action))?.actor?.name ?? null
  const deciderId = operation.approval?.decided_by ?? null
  const deciderName = usePrincipalName(deciderId)
  return {
    askedBy: nameOf(['operation.create']),
    decidedBy:
      deciderId === null
        ? null
        : deciderId === me?.id
          ? 'you'
          : (nameOf(['operation.approve', 'operation.decline']) ?? deciderName ?? deciderId),
  }
}
