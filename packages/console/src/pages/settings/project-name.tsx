import type { Project } from '@backstop/client'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { Saving } from './saving.tsx'
import classes from './settings.module.css'
import { useProjectChange } from './use-project-change.ts'
import { versionToSave } from './version-to-save.ts'

export function ProjectName({ project }: { project: Project }) {
  const [name, setName] = useState(project.name)
  const [base, setBase] = useState(project)
  const change = useProjectChange(project, setBase)
  const version = versionToSave(base, project, change.error)
  return (
    <div className={classes.form}>
      <TextInput label="Name" value={name} onChange={event => setName(event.currentTarget.value)} />
      <Saving
        project={project}
        hasChanges={name.trim() !== base.name}
        isValid={name.trim() !== ''}
        isPending={change.isPending}
        error={change.error}
        yours={`Name the project “${name.trim()}”`}
        onSave={() => change.mutate({ patch: { name: name.trim() }, version })}
        onDiscard={() => {
          setName(project.name)
          setBase(project)
          change.reset()
        }}
      />
    </div>
  )
}
