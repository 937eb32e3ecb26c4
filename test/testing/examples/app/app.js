import 'plugin-editor';

/** The page of an application: an editor, and the status of the plugin beside it. */
export function showPlugin(main, { editorUrl }) {
  main.innerHTML = `
    <h1>Your plugin</h1>
    <plugin-editor builder="https://plugins.example.com" ident="com.acme.customer-7" fn="add-record"
      token-endpoint="/plugins/editor-token" token-delivery="message"></plugin-editor>
    <p id="work" role="status"></p>
    <ul id="deployed" aria-label="Deployed"></ul>
    <p id="problem" role="alert"></p>`;
  const editor = main.querySelector('plugin-editor');
  editor.editorUrl = editorUrl;
  const [work, deployed, problem] = ['work', 'deployed', 'problem'].map((id) => main.querySelector(`#${id}`));
  editor.addEventListener('plugin-editor-dirty', ({ dirty }) => {
    work.textContent = dirty ? 'You have unsaved work.' : '';
  });
  editor.addEventListener('plugin-editor-deploy', ({ version }) => {
    deployed.append(Object.assign(document.createElement('li'), { textContent: version }));
  });
  editor.addEventListener('plugin-editor-error', ({ error }) => {
    problem.textContent =
      error.code === 'token-unauthorized' ? 'Please sign in again.' : 'The editor did not open.';
  });
  return editor;
}
