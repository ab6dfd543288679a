import { Select } from '@mantine/core'
import type { Role } from '../../api/system.ts'
import { ALL_PROJECTS, useGrantableProjects } from '../../session/administration.ts'
import { ROLES } from './words.ts'

export interface RoleInProject {
  readonly project_id: string | null
  readonly role: Role
}

const projectOf = (choice: string | null | undefined) => (choice == null || choice === ALL_PROJECTS ? null : choice)

/** The role that a choice begins with. */
export function useFirstRole(): RoleInProject {
  return { project_id: projectOf(useGrantableProjects()[0]?.value), role: 'viewer' }
}

/** A project and a role in it. Only projects that the reader administers can be chosen. */
export function RoleChoice({ value, onChange }: { value: RoleInProject; onChange: (value: RoleInProject) => void }) {
  return (
    <>
      <Select
        label="Project"
        searchable
        data={useGrantableProjects()}
        value={value.project_id ?? ALL_PROJECTS}
        onChange={id => onChange({ ...value, project_id: projectOf(id) })}
      />
      <Select
        label="Role"
        description={ROLES.find(({ value: role }) => role === value.role)?.may}
        data={ROLES.map(({ value: role, label }) => ({ value: role, label }))}
        value={value.role}
        onChange={role => onChange({ ...value, role: (role ?? value.role) as Role })}
      />
    </>
  )
}
