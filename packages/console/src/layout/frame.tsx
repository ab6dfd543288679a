import { useQuery } from '@tanstack/react-query'
import { Outlet, useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { useLiveStream } from '../api/live.ts'
import { projectQuery, projectsQuery } from '../api/system.ts'
import { formatExactTime } from '../format/times.ts'
import { Problem } from '../parts/page/index.ts'
import { useNow } from '../parts/show/index.ts'
import { DemoLine } from './demo-line.tsx'
import classes from './frame.module.css'
import { Keyboard, type ShownOverlay } from './keyboard.tsx'
import { lastProject } from './last-project.ts'
import { Navigation } from './navigation.tsx'

/** The frame of every page of a project. It keeps the live stream of the project open. */
export function ProjectFrame() {
  const { project = '' } = useParams({ strict: false })
  useLiveStream(project)
  const { data, error, refetch } = useQuery(projectQuery(project))
  useEffect(() => {
    if (error === null) lastProject.write(project)
  }, [project, error])
  return (
    <Frame projectId={project} printedName={data?.name}>
      {data?.demo === true && data.archived_at === null && <DemoLine project={data} />}
      {error === null ? (
        <Outlet />
      ) : (
        <Problem error={error} retry={() => void refetch()} what="The project could not be read" />
      )}
    </Frame>
  )
}

/** The frame of the pages about the whole installation. */
export function SystemFrame() {
  const { data: projects = [] } = useQuery(projectsQuery)
  const last = lastProject.read()
  // The last project may belong to another installation, or be hidden from the reader.
  const projectId = projects.find(({ project_id }) => project_id === last)?.project_id
  return (
    <Frame projectId={projectId}>
      {projectId !== undefined && <LiveStream projectId={projectId} />}
      <Outlet />
    </Frame>
  )
}

/** The system pages have no live events. The stream shows whether Backstop can be reached. */
function LiveStream({ projectId }: { projectId: string }) {
  useLiveStream(projectId)
  return null
}

interface FrameProps {
  projectId: string | undefined
  /** The project of the page, which only paper names above the page. */
  printedName?: string | undefined
  children: ReactNode
}

function Frame({ projectId, printedName, children }: FrameProps) {
  const [shown, setShown] = useState<ShownOverlay>('none')
  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#page">
        Skip to the page
      </a>
      <Navigation projectId={projectId} onFind={() => setShown('palette')} />
      <main id="page" className={classes.page}>
        <PaperHead name={printedName} />
        {children}
      </main>
      <Keyboard projectId={projectId} shown={shown} setShown={setShown} />
    </div>
  )
}

/** What a printed page says of itself: the screen shows the project in the navigation, and its reader knows the time. */
function PaperHead({ name }: { name: string | undefined }) {
  const now = useNow()
  return (
    <p className={classes.paper}>
      <bdi>{name ?? 'Backstop'}</bdi>
      <span>Printed {formatExactTime(now)}</span>
    </p>
  )
}
