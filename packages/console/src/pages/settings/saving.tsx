import type { Project, ProjectPatch } from '@backstop/client'
import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { api, queryClient, refresh, useWrite } from '../../api/client.ts'
import { projectQuery } from '../../api/system.ts'
import { isLostRace, LostRace, useFields, versionToSave } from '../../parts/form/index.ts'
import { Problem } from '../../parts/page/index.ts'
import { Time } from '../../parts/show/index.ts'

/** Changes a project of a known version, and writes the answer into the cache. */
export function useProjectChange(project: Project, onChanged?: (project: Project) => void) {
  const { queryKey } = projectQuery(project.project_id)
  return useWrite(
    ({ patch, version = project.version }: { patch: ProjectPatch; version?: number }) =>
      api.projects.change(project.project_id, patch, { ifVersion: version }),
    {
      refresh: [['projects', 'all']],
      onDone(changed) {
        queryClient.setQueryData(queryKey, changed)
        onChanged?.(changed)
      },
      onError: () => refresh(queryKey),
    },
  )
}

/**
 * A form of some settings of a project.
 * @param project as it is stored now
 * @param fieldsOf the fields that show a project
 */
export function useProjectForm<F extends object>(project: Project, fieldsOf: (project: Project) => F) {
  // The version that the form began with: a newer one of somebody else must not be overwritten unseen.
  const [base, setBase] = useState(project)
  const { setFields, ...form } = useFields(() => fieldsOf(project))
  const begin = (from: Project) => {
    setBase(from)
    setFields(fieldsOf(from))
  }
  const { mutate, reset, error, isPending } = useProjectChange(project, begin)
  return {
    ...form,
    project,
    base,
    error,
    isPending,
    save: (patch: ProjectPatch) => mutate({ patch, version: versionToSave(base, project, error) }),
    discard() {
      begin(project)
      reset()
    },
  }
}

interface Props {
  form: Pick<ReturnType<typeof useProjectForm>, 'project' | 'error' | 'isPending' | 'save' | 'discard'>
  hasChanges: boolean
  isValid?: boolean
  /** What was to be saved, after a lost race. */
  yours: string
  /** What is saved. */
  patch: ProjectPatch
}

/** The buttons below a form of the settings, its error, and the choice after a lost race. */
export function Saving({ form, hasChanges, isValid = true, yours, patch }: Props) {
  const { project, error, isPending, save, discard } = form
  if (isLostRace(error)) {
    const theirs = (
      <>
        “{project.name}”, changed <Time at={project.updated_at} />
      </>
    )
    return <LostRace theirs={theirs} yours={yours} onKeepTheirs={discard} onApplyYours={() => save(patch)} />
  }
  return (
    <>
      <Problem error={error} what="Nothing was changed" />
      <Group gap="sm">
        <Button variant="default" disabled={!hasChanges || !isValid} loading={isPending} onClick={() => save(patch)}>
          Save
        </Button>
        {hasChanges && (
          <Button variant="subtle" onClick={discard}>
            Discard
          </Button>
        )}
      </Group>
    </>
  )
}
