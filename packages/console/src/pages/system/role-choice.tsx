import { Select } from '@mantine/core'
import type { Role } from '../../api/system.ts'
import { useAdministration } from './use-admin.ts'
import { ROLES } from './words.ts'

const ALL = 'all'
export interface RoleInProject {
  readonly project_id: string | null
  readonly role: Role
}

/** A project and a role in it. Only projects that the reader administers can be chosen. */
export function RoleChoice({ value, onChange }: { value: RoleInProject; onChange: (value: RoleInProject) => void }) {
  const { isAdminOfAll, projects } = useAdministration()
  const options = [
    ...(isAdminOfAll ? [{ value: ALL, label: 'All projects, also future ones' }] : []),
    ...projects.map(({ project_id, name }) => ({ value: project_id, label: name })),
  ]
  const may = ROLES.find(({ value: role }) => role === value.role)?.may
  return (
    <>
      <Select
        label="Project"
        searchable
        data={options}
        value={value.project_id ?? ALL}
        onChange={id => onChange({ ...value, project_id: id === ALL ? null : id })}
      />
      <Select
        label="Role"
        description={may}
        data={ROLES.map(({ value: role, label }) => ({ value: role, label }))}
        value={value.role}
        onChange={role => onChange({ ...value, role: (role ?? value.role) as Role })}
      />
    </>
  )
}
