import type { Project, ProjectPatch } from '@backstop/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { projectQuery } from '../../api/projects.ts'

/** Changes a project of a known version, and writes the answer into the cache. */
export function useProjectChange(project: Project, onChanged?: (project: Project) => void) {
  const queryClient = useQueryClient()
  const { queryKey } = projectQuery(project.project_id)
  return useMutation({
    mutationFn: ({ patch, version = project.version }: { patch: ProjectPatch; version?: number }) =>
      api.projects.change(project.project_id, patch, { ifVersion: version }),
    async onSuccess(changed) {
      queryClient.setQueryData(queryKey, changed)
      onChanged?.(changed)
      await queryClient.invalidateQueries({ queryKey: ['projects', 'all'] })
    },
    onError: () => queryClient.invalidateQueries({ queryKey }),
  })
}
